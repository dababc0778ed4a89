"""What can be answered when partition counts are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from streamapp.spec.resource.app import StreamApp


@dataclass(frozen=True, slots=True)
class KnownCounts:
    """Counts by stream; a stream that does not exist has none."""

    counts: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class PendingCounts:
    """Asked, and not answered yet; look again soon."""

    seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class SystemUnavailable:
    """A system does not answer."""

    system: str
    message: str
    seconds: float  # until it is asked again


@dataclass(frozen=True, slots=True)
class SystemMisconfigured:
    """A system cannot be asked as the app would have it: its settings or its secret are wrong."""

    path: str
    message: str
    seconds: float = 60.0


PartitionCounts = KnownCounts | PendingCounts | SystemUnavailable | SystemMisconfigured


class PartitionLookup(Protocol):
    """Asks systems. It never waits long: an answer that takes its time is *pending* meanwhile."""

    async def counts(self, app: StreamApp) -> PartitionCounts:
        """The counts of all streams of an app."""
        ...

"""The results of a lookup of partition counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from streamapp.spec.resource.app import StreamApp


@dataclass(frozen=True, slots=True)
class KnownCounts:
    """Counts by stream; None for a stream that does not exist."""

    counts: Mapping[str, int | None]
    only_driver: frozenset[str] = frozenset()  # streams of systems for which only the driver has a token


@dataclass(frozen=True, slots=True)
class PendingCounts:
    """The lookup is still running; ask again after `seconds`."""

    seconds: float = 0.5


@dataclass(frozen=True, slots=True)
class SystemUnavailable:
    """A system does not answer."""

    system: str
    message: str
    seconds: float  # until the next lookup


@dataclass(frozen=True, slots=True)
class LookupEnded:
    """The lookup was ended, since its system made it take more than it may."""

    system: str
    message: str
    seconds: float  # until the next lookup


@dataclass(frozen=True, slots=True)
class SystemMisconfigured:
    """A system cannot be reached with the app's settings or secret, which are wrong."""

    path: str
    message: str
    seconds: float = 60.0


PartitionCounts = KnownCounts | PendingCounts | SystemUnavailable | LookupEnded | SystemMisconfigured


class PartitionLookup(Protocol):
    """Looks up partition counts. It never waits long: a slow answer is *pending* meanwhile."""

    async def counts(self, app: StreamApp) -> PartitionCounts:
        """The counts of all streams of an app."""
        ...

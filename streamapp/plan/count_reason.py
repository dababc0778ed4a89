"""Why a stream has the partition count it has, as a value and as words."""

from dataclasses import dataclass
from enum import StrEnum

from streamapp.spec.resource.config_keys import PARTITIONS

INFERRED_COUNT_CAP = 256


class CountSource(StrEnum):
    """The source of a partition count."""

    KNOWN = "known"
    EXPLICIT = "explicit"
    IMPOSED = "imposed"
    BROADCAST = "broadcast"
    CONFIGURED = "configured"
    INFERRED = "inferred"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CountReason:
    """The ground of one stream's count, and who laid it."""

    kind: CountSource
    operator: str | None = None  # what asks for it, imposes it, or broadcasts it
    stream: str | None = None  # the stream met in that join, or the one with the largest count
    origin: str | None = None  # the stream from which an imposed count comes at last
    system: str | None = None  # the system that has the stream
    counted_by: str | None = None  # what a known count comes from, if not from that system
    capped: bool = False  # whether the largest count was more than an inferred one may be

    @property
    def sentence(self) -> str:
        """The ground in words that can follow the count: `imposed by joined, where it meets views`."""
        match self.kind:
            case CountSource.KNOWN:
                system = f"system {self.system}" if self.system else "its system"
                words = f"from {self.counted_by or system}"
            case CountSource.EXPLICIT:
                words = f"asked for by {self.operator}"
            case CountSource.IMPOSED:
                met = f"imposed by {self.operator}, where it meets {self.stream}"
                words = met if self.origin == self.stream else f"{met}, whose count comes from {self.origin}"
            case CountSource.BROADCAST:
                words = f"one keeps the order of what {self.operator} writes"
            case CountSource.CONFIGURED:
                words = f"set by {PARTITIONS}"
            case CountSource.INFERRED:
                largest = f"the largest count over inputs and outputs is that of {self.stream}"
                words = f"{largest}, capped at {INFERRED_COUNT_CAP}" if self.capped else largest
            case CountSource.UNKNOWN:
                words = "unknown"
        return words

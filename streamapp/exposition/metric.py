"""What is measured, and how often which length was seen."""

from bisect import bisect_left
from dataclasses import dataclass, field
from enum import StrEnum


class MetricKind(StrEnum):
    """What may become of a value."""

    COUNTER = "counter"  # only grows, from 0 at each start of the process
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A measured thing."""

    name: str
    kind: MetricKind
    about: str
    labels: tuple[str, ...] = ()  # what its values are told apart by


@dataclass(slots=True)
class Histogram:
    """How often which length was seen."""

    bounds: tuple[float, ...]  # upper bounds of the buckets, ascending
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        """Begin with a bucket for each bound, and one for all beyond."""
        self.counts = [0] * (len(self.bounds) + 1)

    def see(self, length: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.bounds, length)] += 1
        self.total += length

"""What a process measures, as a row of a table."""

from dataclasses import dataclass
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

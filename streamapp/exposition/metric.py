"""The metrics of a process, as rows of a table."""

from dataclasses import dataclass
from enum import StrEnum


class MetricKind(StrEnum):
    """The kind of a metric, by the changes that its value may make."""

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

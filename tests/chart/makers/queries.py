"""What dashboards ask Prometheus for, by metrics of our tables: none can ask for what is not there."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamapp.exposition.metric import Metric


@dataclass(frozen=True, slots=True)
class Query:
    """One query, and how its lines are called."""

    text: str
    legend: str


def rate(metric: Metric, *by: str, within: str = "") -> Query:
    """How fast a counter grows."""
    return Query(f"sum by ({', '.join(by)}) (rate({metric.name}{{{within}}}[$__rate_interval]))", _legend(by))


def grown(metric: Metric, *by: str, within: str = "") -> Query:
    """By how much a counter has grown of late; for what is seldom."""
    return Query(f"sum by ({', '.join(by)}) (increase({metric.name}{{{within}}}[$__range]))", _legend(by))


def largest(metric: Metric, *by: str, within: str = "") -> Query:
    """A gauge, where of several the largest counts."""
    return Query(f"max by ({', '.join(by)}) ({metric.name}{{{within}}})", _legend(by))


def whole(metric: Metric, *by: str, within: str = "") -> Query:
    """A gauge whose parts add up."""
    return Query(f"sum by ({', '.join(by)}) ({metric.name}{{{within}}})", _legend(by))


def behind(metric: Metric, *by: str, within: str = "") -> Query:
    """For how long ago a gauge of seconds since 1970 stands."""
    return Query(f"time() - min by ({', '.join(by)}) ({metric.name}{{{within}}})", _legend(by))


def quantiles(metric: Metric, *by: str, within: str = "") -> list[Query]:
    """The middle and the slowest hundredth of a histogram."""
    kept = ", ".join((*by, "le"))
    rates = f"sum by ({kept}) (rate({metric.name}_bucket{{{within}}}[$__rate_interval]))"
    return [
        Query(f"histogram_quantile({share}, {rates})", " ".join((_legend(by), name)).strip())
        for share, name in ((0.5, "median"), (0.99, "99 %"))
    ]


def _legend(by: Sequence[str]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in by)

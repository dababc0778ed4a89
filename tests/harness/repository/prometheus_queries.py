"""What dashboards ask Prometheus for, by metrics of our tables: none can ask for what is not there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamapp.exposition.metric import Metric
from streamapp_operator.controller.telemetry.app_metrics import APP_METRICS
from streamapp_operator.controller.telemetry.operator_metrics import METRICS as OPERATOR_METRICS
from streamapp_runtime.driver.reporting.run_metrics import METRICS as DRIVER_METRICS

LABELS: dict[str, dict[str, set[str]]] = {
    "operator": {one.name: {*one.labels, "pod", "namespace"} for one in (*OPERATOR_METRICS, *APP_METRICS)},
    "apps": {one.name: {*one.labels, "app", "namespace"} for one in DRIVER_METRICS},
}
"""By dashboard, what each metric is told apart by: its own labels, and those that a scrape gives."""


def metric_names(query: str) -> set[str]:
    """The metrics that a query asks for."""
    names = re.findall(r"\bstreamapp_\w+", query)
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


@dataclass(frozen=True, slots=True)
class Query:
    """One query, and how its lines are called."""

    text: str
    legend: str

    def called(self, what: str) -> "Query":
        """The same, with a word for what the line is."""
        return Query(self.text, f"{self.legend} {what}".strip())


APP = ("namespace", "app")
"""What an app is told apart by: staging and production may have one of the same name."""


def rate(metric: Metric, *by: str, within: str = "") -> Query:
    """How fast a counter grows."""
    return Query(f"sum by ({', '.join(by)}) (rate({metric.name}{{{within}}}[$__rate_interval]))", _legend(by))


def grown(metric: Metric, *by: str, within: str = "") -> Query:
    """By how much a counter has grown since the time that is shown began; for what is seldom.

    What counted and is gone by now counts too. `increase` would miss the first ones: a series that begins at
    3 has not increased. And it guesses beyond the ends of the time, so that one event would be 1.03 of them.
    """
    counter = f"{metric.name}{{{within}}}[$__range]"
    now, before = f"max_over_time({counter})", f"max_over_time({counter} @ start())"
    return Query(f"sum by ({', '.join(by)}) (clamp_min({now} - ({before} or {now} * 0), 0))", _legend(by))


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
        Query(f"histogram_quantile({share}, {rates})", _legend(by)).called(name)
        for share, name in ((0.5, "median"), (0.99, "99 %"))
    ]


def _legend(by: Sequence[str]) -> str:
    return " ".join(f"{{{{{label}}}}}" for label in by).replace(
        "{{namespace}} {{app}}", "{{namespace}}/{{app}}"
    )

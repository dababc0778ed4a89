"""The metrics of each app: one table, and the collector that has a row for each app of the operator."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as MetricFamily
from prometheus_client.registry import Collector

from streamapp.exposition.metric import Metric, MetricKind

Sample = tuple[tuple[str, ...], float]
"""The values of the labels after namespace and app, and the value."""
_APP = ("namespace", "app")


@dataclass(frozen=True, slots=True)
class AppMeasurement:
    """The measurements of one app, by its last reconcile."""

    application_id: str
    image: str  # of the driver; of the resource or the installation where there is no driver
    plan: str  # the plan's outcome; empty before the first plan
    phase: str
    conditions: tuple[tuple[str, str], ...]  # type and status
    restarts: int
    reported_at: float | None = None  # seconds since 1970; None before the first report
    lag: int | None = None  # None before the first report


APP_INFO = Metric(
    "streamapp_app_info",
    MetricKind.GAUGE,
    "1. Its labels name the app's id, the image of its driver, and the outcome of its plan.",
    (*_APP, "application_id", "image", "plan"),
)
APP_PHASE = Metric("streamapp_app_phase", MetricKind.GAUGE, "1 for the phase of now.", (*_APP, "phase"))
APP_CONDITION = Metric(
    "streamapp_app_condition",
    MetricKind.GAUGE,
    "1 for the status of now of each condition: `True`, `False` or `Unknown`.",
    (*_APP, "type", "status"),
)
APP_RESTARTS = Metric(
    "streamapp_app_restarts_total",
    MetricKind.COUNTER,
    "Restarts of the driver. From the app's status, so that a restart of the operator keeps it.",
    _APP,
)
APP_REPORTED = Metric(
    "streamapp_app_last_report_timestamp_seconds",
    MetricKind.GAUGE,
    "When the driver's report last changed, as seconds since 1970. A driver reports changes alone.",
    _APP,
)
APP_LAG = Metric(
    "streamapp_app_lag_rows",
    MetricKind.GAUGE,
    "Records that are there and not yet read, to the next power of two, by the driver's report.",
    _APP,
)


def _of_report(value: float | None) -> list[Sample]:
    return [] if value is None else [((), value)]


APP_METRICS: Mapping[Metric, Callable[[AppMeasurement], Iterable[Sample]]] = {
    APP_INFO: lambda app: [((app.application_id, app.image, app.plan), 1)],
    APP_PHASE: lambda app: [((app.phase,), 1)],
    APP_CONDITION: lambda app: [(condition, 1) for condition in app.conditions],
    APP_RESTARTS: lambda app: [((), app.restarts)],
    APP_REPORTED: lambda app: _of_report(app.reported_at),
    APP_LAG: lambda app: _of_report(app.lag),
}
"""The samples of one app, by metric."""


class AppCollector(Collector):
    """The measurements of all apps. An app that is removed leaves no sample."""

    def __init__(self) -> None:
        self._apps: dict[tuple[str, str], AppMeasurement] = {}

    def put(self, namespace: str, app: str, measurement: AppMeasurement) -> None:
        """Set what is measured of an app."""
        self._apps[namespace, app] = measurement

    def measured(self, namespace: str, app: str) -> AppMeasurement | None:
        """The last measurements of an app, if there are any."""
        return self._apps.get((namespace, app))

    def remove(self, namespace: str, app: str) -> None:
        """Remove an app that is gone, or that the operator no longer manages."""
        self._apps.pop((namespace, app), None)

    def collect(self) -> Iterator[MetricFamily]:
        """All metrics with their samples of now."""
        apps = tuple(self._apps.items())
        for metric, samples_of in APP_METRICS.items():
            family = _family(metric)
            for names, measurement in apps:
                for labels, value in samples_of(measurement):
                    family.add_metric((*names, *labels), value)
            yield family


def _family(metric: Metric) -> GaugeMetricFamily | CounterMetricFamily:
    family = CounterMetricFamily if metric.kind is MetricKind.COUNTER else GaugeMetricFamily
    return family(metric.name, metric.about, labels=metric.labels)

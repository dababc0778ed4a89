"""The operator's metrics as one table, from which the reference page is generated."""

from streamapp.exposition.metric import Metric, MetricKind
from streamapp.exposition.metric_collector import MetricCollector
from streamapp.exposition.metrics_page import metrics_page as page_of
from streamapp_operator.controller.telemetry.app_metrics import APP_METRICS

BUCKET_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms' buckets, in seconds."""

RECONCILES = Metric(
    "streamapp_operator_reconciles_total", MetricKind.COUNTER, "Reconciles, by how they ended.", ("outcome",)
)
RECONCILE_SECONDS = Metric(
    "streamapp_operator_reconcile_seconds", MetricKind.HISTOGRAM, "How long reconciles took."
)
DECIDE_SECONDS = Metric(
    "streamapp_operator_decide_seconds",
    MetricKind.HISTOGRAM,
    "How long it took to decide what to do for an app: to plan, to form tasks, to place them.",
)
LAUNCHES = Metric("streamapp_operator_launches_total", MetricKind.COUNTER, "Driver pods made.")
RESTARTS = Metric(
    "streamapp_operator_restarts_total", MetricKind.COUNTER, "Driver pods made after others failed."
)
EVENTS = Metric(
    "streamapp_operator_events_total", MetricKind.COUNTER, "Events recorded for apps.", ("type", "reason")
)
QUEUE_DEPTH = Metric("streamapp_operator_queue_depth", MetricKind.GAUGE, "Apps that wait for a reconcile.")
QUEUE_AGE = Metric(
    "streamapp_operator_queue_age_seconds",
    MetricKind.GAUGE,
    "For how long the first of them has been waiting.",
)
WATCH_AGE = Metric(
    "streamapp_operator_watch_age_seconds",
    MetricKind.GAUGE,
    "Time since the last news of a kind, by its watch or by a comparison.",
    ("kind",),
)
COMPARISONS = Metric(
    "streamapp_operator_comparisons_total",
    MetricKind.COUNTER,
    "Comparisons of the watch cache with the cluster.",
    ("kind",),
)
MISSED = Metric(
    "streamapp_operator_watch_missed_total",
    MetricKind.COUNTER,
    "Changes that a comparison found and no watch had reported.",
    ("kind",),
)
API_CALLS = Metric(
    "streamapp_operator_api_calls_total",
    MetricKind.COUNTER,
    "Calls to the API server, by verb and by the code that came; `none` where no answer came.",
    ("verb", "code"),
)
LEADING = Metric("streamapp_operator_leading", MetricKind.GAUGE, "1 in the replica that leads.")
APPS = Metric("streamapp_operator_apps", MetricKind.GAUGE, "StreamApps that this operator manages.")
LOOP_LAG = Metric(
    "streamapp_operator_loop_lag_seconds",
    MetricKind.GAUGE,
    "By how much the event loop was late the last time.",
)

METRICS = (
    RECONCILES, RECONCILE_SECONDS, DECIDE_SECONDS, LAUNCHES, RESTARTS, EVENTS, QUEUE_DEPTH, QUEUE_AGE,
    WATCH_AGE, COMPARISONS, MISSED, API_CALLS, LEADING, APPS, LOOP_LAG,
)  # fmt: skip


def operator_collector() -> MetricCollector:
    """The values of one operator, none counted yet."""
    return MetricCollector(METRICS, BUCKET_BOUNDS)


def page() -> str:
    """The reference page."""
    return page_of(_HEAD, METRICS) + "\n" + page_of(_APP_HEAD, APP_METRICS)


_HEAD = (
    "# Metrics of the operator",
    "",
    "The operator serves these at `/metrics` on its port (`--port`, 8080 by default), in the text format",
    "that Prometheus reads. Counters begin at 0 with each start of the process; only the replica that leads",
    "reconciles.",
)
_APP_HEAD = (
    "## Metrics of each app",
    "",
    "The replica that leads also serves these for each app that it manages, by `namespace` and `app`: the",
    "labels that the series of drivers have by the ServiceMonitors of the chart. An app has samples from its",
    "first reconcile on, and none once it is deleted. What phases and conditions mean is in",
    "[the life of an app](app-life.md). The chart has [alerts](../guide/alerts.md) on them.",
)

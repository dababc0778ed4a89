"""The metrics of a run, as one table; the reference page is made of it."""

from streamapp.exposition.metric import Metric, MetricKind
from streamapp.exposition.metrics_page import metrics_page as page_of
from streamapp_runtime.lanes.protocol import traffic
from streamapp_runtime.lanes.protocol.lane_levels import LANE_LEVELS, LATENCY_MS
from streamapp_runtime.operators.state.lane_state import (
    LATE_ROWS_COUNTER,
    NULL_KEYS_COUNTER,
    NULL_TIMES_COUNTER,
)

BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms' buckets, in seconds."""
BATCH = "batch"
"""The step that is a whole batch, as the driver sees it."""

ROWS_IN = Metric("streamapp_rows_in_total", MetricKind.COUNTER, "Records that were read.", ("stream",))
BYTES_IN = Metric(
    "streamapp_bytes_in_total", MetricKind.COUNTER, "Bytes of the values that were read.", ("stream",)
)
ROWS_OUT = Metric(
    "streamapp_rows_out_total",
    MetricKind.COUNTER,
    "Records that were written, changelogs and control messages left out.",
    ("stream",),
)
BYTES_OUT = Metric(
    "streamapp_bytes_out_total", MetricKind.COUNTER, "Bytes of the values of these.", ("stream",)
)
BAD = Metric("streamapp_bad_records_total", MetricKind.COUNTER, "Records that could not be processed.")
LATE_ROWS = Metric(
    "streamapp_late_rows_total",
    MetricKind.COUNTER,
    "Rows behind the watermark that were left out.",
    ("operator",),
)
WATERMARK = Metric(
    "streamapp_watermark_seconds",
    MetricKind.GAUGE,
    "Event time that a stream has reached, where it has some, as seconds since 1970.",
    ("stream",),
)
LAG = Metric("streamapp_lag_rows", MetricKind.GAUGE, "Records that are there and not yet read.", ("stream",))
BATCHES = Metric(
    "streamapp_batches_total", MetricKind.COUNTER, "Batches that ended, keep-alive ones among them."
)
FAILED = Metric(
    "streamapp_batches_failed_total", MetricKind.COUNTER, "Batches that failed and were tried again."
)
SECONDS = Metric(
    "streamapp_batch_seconds", MetricKind.HISTOGRAM, "How long batches, or steps of them, took.", ("step",)
)
LATENCY = Metric(
    "streamapp_latency_seconds",
    MetricKind.HISTOGRAM,
    "From the timestamp of the first record that a batch of a lane reads of an input to its commit.",
    ("stream",),
)
ENTRIES = Metric("streamapp_state_entries", MetricKind.GAUGE, "Entries of stores on disk, about.", ("table",))
BYTES = Metric("streamapp_state_bytes", MetricKind.GAUGE, "Bytes of stores on disk.", ("table",))
FREE_BYTES = Metric(
    "streamapp_state_free_bytes",
    MetricKind.GAUGE,
    "Bytes that are free on the volume with the processor's stores.",
    ("processor",),
)
VOLUME = Metric(
    "streamapp_state_volume_bytes",
    MetricKind.GAUGE,
    "Bytes of the volume with the processor's stores.",
    ("processor",),
)
MEMORY = Metric(
    "streamapp_memory_bytes",
    MetricKind.GAUGE,
    "Resident memory of the worker that runs the processor's tasks.",
    ("processor",),
)
RESTORED = Metric(
    "streamapp_restored_entries_total", MetricKind.COUNTER, "Changelog entries replayed into stores."
)
RESTORED_BYTES = Metric(
    "streamapp_restored_bytes_total", MetricKind.COUNTER, "Bytes of their keys and values."
)
FILLING = Metric(
    "streamapp_bootstrap_lag_rows",
    MetricKind.GAUGE,
    "Records of side inputs that main inputs still wait for.",
)
RESTORING = Metric(
    "streamapp_tasks_restoring", MetricKind.GAUGE, "Tasks that are bringing back their stores."
)
TASKS = Metric("streamapp_tasks", MetricKind.GAUGE, "Tasks.", ("processor",))
NULL_KEYS = Metric(
    "streamapp_null_keys_total", MetricKind.COUNTER, "Rows left out because they have no key.", ("name",)
)
NULL_TIMES = Metric(
    "streamapp_null_times_total", MetricKind.COUNTER, "Rows left out because they have no time.", ("name",)
)
REMOTE_ASKED = Metric(
    "streamapp_remote_lookups_total",
    MetricKind.COUNTER,
    "Keys that a remote table was asked for.",
    ("table",),
)
REMOTE_CACHED = Metric(
    "streamapp_remote_cache_hits_total",
    MetricKind.COUNTER,
    "Keys that the cache of a remote table knew.",
    ("table",),
)
REMOTE_UNANSWERED = Metric(
    "streamapp_remote_failures_total",
    MetricKind.COUNTER,
    "Keys without an answer: the remote table was unavailable.",
    ("table",),
)
FREED = Metric(
    "streamapp_state_gc_bytes_total",
    MetricKind.COUNTER,
    "Bytes of deleted stores that had no owner any more.",
    ("table",),
)
MODEL = Metric(
    "streamapp_job_model_version", MetricKind.GAUGE, "The job model that runs; each change raises it."
)
MOVED = Metric("streamapp_tasks_moved_total", MetricKind.COUNTER, "Tasks that went to another processor.")
REFUSED = Metric(
    "streamapp_rejected_changes",
    MetricKind.GAUGE,
    "Rejected partition increases and scale requests that are outstanding.",
)
INCARNATION = Metric(
    "streamapp_incarnation", MetricKind.GAUGE, "Which driver of the app this is, counted from 1."
)
OUTBOX = Metric(
    "streamapp_outbox_records",
    MetricKind.GAUGE,
    "Records that wait for delivery into another system.",
    ("system",),
)
DELIVERED = Metric(
    "streamapp_delivered_records_total",
    MetricKind.COUNTER,
    "Records that were delivered into another system.",
    ("system",),
)
DELIVERIES = Metric(
    "streamapp_deliveries_total",
    MetricKind.COUNTER,
    "Transactions of the other system by which they were; each is a commit of a table.",
    ("system",),
)
DELIVERY_FAILURES = Metric(
    "streamapp_delivery_failures_total",
    MetricKind.COUNTER,
    "Deliveries that failed and were tried again.",
    ("system",),
)
REFRESHES = Metric(
    "streamapp_table_refreshes_total",
    MetricKind.COUNTER,
    "Newer versions of a table that were imported while the app ran.",
    ("stream",),
)
REFRESH_FAILURES = Metric(
    "streamapp_table_refresh_failures_total",
    MetricKind.COUNTER,
    "Looks at a table that failed and were tried again.",
    ("stream",),
)
SILENT = Metric(
    "streamapp_system_silent",
    MetricKind.GAUGE,
    "1 for a system of inputs that does not answer while others do.",
    ("system",),
)

METRICS = (
    ROWS_IN, BYTES_IN, ROWS_OUT, BYTES_OUT, BAD, LATE_ROWS, WATERMARK, LAG, BATCHES, FAILED, SECONDS,
    LATENCY, NULL_KEYS, NULL_TIMES, REMOTE_ASKED, REMOTE_CACHED, REMOTE_UNANSWERED,
    ENTRIES, BYTES, FREE_BYTES, VOLUME, MEMORY, FREED, RESTORED, RESTORED_BYTES, RESTORING, FILLING, TASKS,
    MODEL, MOVED, REFUSED, INCARNATION,
    OUTBOX, DELIVERED, DELIVERIES, DELIVERY_FAILURES, REFRESHES, REFRESH_FAILURES, SILENT,
)  # fmt: skip

COUNTED = {
    NULL_KEYS_COUNTER: NULL_KEYS,
    NULL_TIMES_COUNTER: NULL_TIMES,
    "remoteAsked": REMOTE_ASKED,
    "remoteCached": REMOTE_CACHED,
    "remoteUnanswered": REMOTE_UNANSWERED,
    "freedBytes": FREED,
    LATE_ROWS_COUNTER: LATE_ROWS,
    traffic.BYTES_IN: BYTES_IN,
    traffic.ROWS_OUT: ROWS_OUT,
    traffic.BYTES_OUT: BYTES_OUT,
    traffic.RESTORED_BYTES: RESTORED_BYTES,
}
"""What lanes count, by the names that they count it under."""
TOLD_OTHERWISE = frozenset({*LANE_LEVELS, LATENCY_MS, traffic.ROWS_IN})
"""What they report under other names, which is known by levels, and by the ranges of batches."""


def page() -> str:
    """The reference page."""
    return page_of(_HEAD, METRICS)


_HEAD = (
    "# Metrics",
    "",
    "`streamapp run --metrics-port 9400` serves these at `http://127.0.0.1:9400/metrics`, in the text",
    "format that Prometheus reads. Counters begin at 0 with each start of the driver. What stores hold is",
    "measured by the executors that have them, at most every second, and is reported with their batches;",
    "tables in memory have no entry there.",
    "A `name` is that of a table or an operator. What is counted by table or by name has an entry once there",
    "is something to count.",
    "",
    f"`step` is `{BATCH}` for a whole batch as the driver sees it. The others are reported by each lane:",
    "`settle` (stores are brought to where their checkpoints are), `read` (records are fetched and decoded),",
    "each operator that runs in Python by its name, and `commit` (outputs are encoded and written). What is",
    "left of a batch is Spark's: SQL, and rows on their way between processes.",
)

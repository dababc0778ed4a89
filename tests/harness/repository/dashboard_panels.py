"""What the dashboards show: of the operator, and of apps."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamapp_operator.controller.telemetry import app_metrics as app
from streamapp_operator.controller.telemetry import operator_metrics as operator
from streamapp_runtime.driver.reporting import run_metrics as driver
from tests.harness.repository.prometheus_queries import (
    APP,
    Query,
    behind,
    grown,
    largest,
    quantiles,
    rate,
    whole,
)

_HERE = 'namespace=~"$namespace"'
_APP = 'namespace=~"$namespace", app=~"$app"'


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture with what it is for."""

    title: str
    about: str
    queries: Sequence[Query]
    unit: str = "short"
    few: bool = False  # a small number of things: nothing lies between one and two


OPERATOR = (
    Panel(
        "Who leads", "1 in the replica that leads.", [whole(operator.LEADING, "pod", within=_HERE)], few=True
    ),
    Panel(
        "Apps",
        "StreamApps that the operator manages.",
        [largest(operator.APPS, "namespace", within=_HERE)],
        few=True,
    ),
    Panel(
        "Waiting",
        "For how long the first app has been waiting for its turn. Minutes are worth an alert.",
        [largest(operator.QUEUE_AGE, "pod", within=_HERE)],
        "s",
    ),
    Panel("Queue", "Apps that wait.", [whole(operator.QUEUE_DEPTH, "pod", within=_HERE)], few=True),
    Panel(
        "Reconciles",
        "A second, by how they ended.",
        [rate(operator.RECONCILES, "outcome", within=_HERE)],
        "ops",
    ),
    Panel(
        "Time of a reconcile", "With all its calls.", quantiles(operator.RECONCILE_SECONDS, within=_HERE), "s"
    ),
    Panel(
        "Time of a decision",
        "To plan, form tasks, place.",
        quantiles(operator.DECIDE_SECONDS, within=_HERE),
        "s",
    ),
    Panel(
        "Drivers",
        "Started, and started anew after a failure, in the time that is shown.",
        [
            grown(operator.LAUNCHES, within=_HERE).called("started"),
            grown(operator.RESTARTS, within=_HERE).called("after failures"),
        ],
        few=True,
    ),
    Panel(
        "Events",
        "Events recorded for apps, in the time that is shown.",
        [grown(operator.EVENTS, "type", "reason", within=_HERE)],
        few=True,
    ),
    Panel(
        "Calls",
        "To the API server, a second.",
        [rate(operator.API_CALLS, "verb", "code", within=_HERE)],
        "ops",
    ),
    Panel(
        "Silence of watches",
        "Time since the last news of a kind.",
        [largest(operator.WATCH_AGE, "kind", within=_HERE)],
        "s",
    ),
    Panel(
        "Missed by watches",
        "What only a comparison noticed, and comparisons. The first should stay rare.",
        [
            grown(operator.MISSED, "kind", within=_HERE).called("missed"),
            grown(operator.COMPARISONS, "kind", within=_HERE).called("compared"),
        ],
        few=True,
    ),
    Panel("Lateness", "Of the event loop.", [largest(operator.LOOP_LAG, "pod", within=_HERE)], "s"),
    Panel("Phases", "Apps in each phase.", [whole(app.APP_PHASE, "phase")], few=True),
    Panel(
        "Conditions",
        "Apps that are not ready, degraded or stalled.",
        [
            whole(app.APP_CONDITION, "type", "status", within='type="Ready", status!="True"'),
            whole(app.APP_CONDITION, "type", "status", within='type=~"Degraded|Stalled", status="True"'),
        ],
        few=True,
    ),
    Panel("Plans and images", "Apps by both.", [whole(app.APP_INFO, "plan", "image")], few=True),
    Panel(
        "Restarts of apps",
        "Of the driver, in the time that is shown.",
        [grown(app.APP_RESTARTS, *APP)],
        few=True,
    ),
    Panel(
        "Age of reports",
        "Since when a driver's report has not changed. A quiet app has an old one.",
        [behind(app.APP_REPORTED, *APP)],
        "s",
    ),
    Panel("Lag by reports", "Records, to the next power of two.", [whole(app.APP_LAG, *APP)]),
)

APPS = (
    Panel("Records in", "Records a second.", [rate(driver.ROWS_IN, *APP, "stream", within=_APP)], "rowsps"),
    Panel("Records out", "Records a second.", [rate(driver.ROWS_OUT, *APP, "stream", within=_APP)], "rowsps"),
    Panel(
        "Bytes",
        "Of values, a second.",
        [
            rate(driver.BYTES_IN, *APP, "stream", within=_APP).called("read"),
            rate(driver.BYTES_OUT, *APP, "stream", within=_APP).called("written"),
        ],
        "Bps",
    ),
    Panel("Lag", "Records that are not yet read.", [whole(driver.LAG, *APP, "stream", within=_APP)]),
    Panel(
        "Outboxes",
        "Records that wait for other systems and tables.",
        [whole(driver.OUTBOX, *APP, "system", within=_APP)],
    ),
    Panel(
        "Delivered",
        "Records a second into other systems and tables.",
        [rate(driver.DELIVERED, *APP, "system", within=_APP)],
        "rowsps",
    ),
    Panel(
        "Deliveries",
        "Commits in other systems, and deliveries that failed, a second.",
        [
            rate(driver.DELIVERIES, *APP, "system", within=_APP).called("committed"),
            rate(driver.DELIVERY_FAILURES, *APP, "system", within=_APP).called("failed"),
        ],
        "ops",
    ),
    Panel(
        "Refreshed tables",
        "Newer versions of tables that were imported, and looks at tables that failed, a second.",
        [
            rate(driver.REFRESHES, *APP, "stream", within=_APP).called("imported"),
            rate(driver.REFRESH_FAILURES, *APP, "stream", within=_APP).called("failed"),
        ],
        "ops",
    ),
    Panel(
        "Silent systems",
        "Systems of inputs that do not answer.",
        [whole(driver.SILENT, *APP, "system", within=_APP)],
        few=True,
    ),
    Panel(
        "Event time behind now",
        "How old the watermark of each stream is.",
        [behind(driver.WATERMARK, *APP, "stream", within=_APP)],
        "s",
    ),
    Panel(
        "Time of a batch",
        "As the driver sees it.",
        quantiles(driver.SECONDS, *APP, within=f'{_APP}, step="{driver.BATCH}"'),
        "s",
    ),
    Panel(
        "Batch time by step",
        "Seconds in each step for each second, all lanes together.",
        [
            Query(
                f"sum by (namespace, app, step) (rate({driver.SECONDS.name}_sum"
                f'{{{_APP}, step!="{driver.BATCH}"}}[$__rate_interval]))',
                "{{namespace}}/{{app}} {{step}}",
            )
        ],
        "s",
    ),
    Panel(
        "Batches",
        "A second; failed ones are tried again.",
        [
            rate(driver.BATCHES, *APP, within=_APP),
            rate(driver.FAILED, *APP, within=_APP).called("failed"),
        ],
        "ops",
    ),
    Panel(
        "Dropped records",
        "Rows that could not be processed, had no key or no time, or came late, and keys that a remote table"
        " did not answer, in the time that is shown.",
        [
            grown(driver.BAD, *APP, within=_APP).called("bad"),
            grown(driver.NULL_KEYS, *APP, "name", within=_APP).called("no key"),
            grown(driver.NULL_TIMES, *APP, "name", within=_APP).called("no time"),
            grown(driver.LATE_ROWS, *APP, "operator", within=_APP).called("late"),
            grown(driver.REMOTE_UNANSWERED, *APP, "table", within=_APP).called("no answer"),
        ],
    ),
    Panel("Entries of state", "On disk.", [whole(driver.ENTRIES, *APP, "table", within=_APP)]),
    Panel("Bytes of state", "On disk.", [whole(driver.BYTES, *APP, "table", within=_APP)], "bytes"),
    Panel(
        "Latency",
        "From the timestamp of the first record that a batch reads of an input to its commit.",
        quantiles(driver.LATENCY, *APP, "stream", within=_APP),
        "s",
    ),
    Panel(
        "Memory",
        "Resident in the worker of each processor.",
        [whole(driver.MEMORY, *APP, "processor", within=_APP)],
        "bytes",
    ),
    Panel(
        "Room for state",
        "Of the volume with a processor's stores.",
        [
            whole(driver.FREE_BYTES, *APP, "processor", within=_APP).called("free"),
            whole(driver.VOLUME, *APP, "processor", within=_APP).called("in all"),
        ],
        "bytes",
    ),
    Panel(
        "Cleared state",
        "Bytes of stores that had no owner any more, in the time that is shown.",
        [grown(driver.FREED, *APP, "table", within=_APP)],
        "bytes",
    ),
    Panel(
        "State restore",
        "Tasks whose stores are not yet complete, and records of side inputs that are waited for.",
        [
            whole(driver.RESTORING, *APP, within=_APP).called("tasks"),
            whole(driver.FILLING, *APP, within=_APP).called("records"),
        ],
    ),
    Panel("Replayed", "Changelog entries a second.", [rate(driver.RESTORED, *APP, within=_APP)], "rowsps"),
    Panel(
        "Replayed bytes",
        "Bytes of changelog entries a second.",
        [rate(driver.RESTORED_BYTES, *APP, within=_APP)],
        "Bps",
    ),
    Panel("Tasks", "By processor.", [whole(driver.TASKS, *APP, "processor", within=_APP)], few=True),
    Panel(
        "Job model changes",
        "Job models, drivers, and tasks that moved. A refused change needs an edit.",
        [
            largest(driver.MODEL, *APP, within=_APP).called("job model"),
            largest(driver.INCARNATION, *APP, within=_APP).called("driver"),
            grown(driver.MOVED, *APP, within=_APP).called("tasks moved"),
            largest(driver.REFUSED, *APP, within=_APP).called("refused"),
        ],
        few=True,
    ),
    Panel(
        "Remote tables",
        "Keys a second: asked for, and known to the cache.",
        [
            rate(driver.REMOTE_ASKED, *APP, "table", within=_APP).called("asked"),
            rate(driver.REMOTE_CACHED, *APP, "table", within=_APP).called("cached"),
        ],
        "ops",
    ),
)

"""What the dashboards show: of the operator, and of apps."""

from collections.abc import Sequence
from dataclasses import dataclass

from streamapp_operator.telemetry import metrics as operator
from streamapp_runtime.driver import metrics as driver
from tests.chart.makers.queries import Query, behind, grown, largest, quantiles, rate, whole

_APP = 'namespace=~"$namespace", app=~"$app"'


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture with what it is for."""

    title: str
    about: str
    queries: Sequence[Query]
    unit: str = "short"


OPERATOR = (
    Panel("Who leads", "1 in the replica that leads.", [whole(operator.LEADING, "pod")]),
    Panel("Apps", "StreamApps that the operator looks after.", [largest(operator.APPS)]),
    Panel(
        "Waiting",
        "For how long the first app has been waiting for its turn. Minutes are worth an alert.",
        [largest(operator.QUEUE_AGE, "pod")],
        "s",
    ),
    Panel("Queue", "Apps that wait.", [whole(operator.QUEUE_DEPTH, "pod")]),
    Panel("Reconciles", "A second, by how they ended.", [rate(operator.RECONCILES, "outcome")], "ops"),
    Panel("Time of a reconcile", "With all its calls.", quantiles(operator.RECONCILE_SECONDS), "s"),
    Panel("Time of a decision", "To plan, form tasks, place.", quantiles(operator.DECIDE_SECONDS), "s"),
    Panel(
        "Drivers",
        "Started, and started anew after a failure, in the time that is shown.",
        [
            Query(grown(operator.LAUNCHES).text, "started"),
            Query(grown(operator.RESTARTS).text, "after failures"),
        ],
    ),
    Panel("Events", "What was told of apps.", [grown(operator.EVENTS, "type", "reason")]),
    Panel("Calls", "To the API server, a second.", [rate(operator.API_CALLS, "verb", "code")], "ops"),
    Panel(
        "Silence of watches", "Since when a kind was heard of.", [largest(operator.WATCH_AGE, "kind")], "s"
    ),
    Panel(
        "Missed by watches",
        "What only a comparison noticed, and comparisons. The first should stay rare.",
        [
            Query(grown(operator.MISSED, "kind").text, "{{kind}} missed"),
            Query(grown(operator.COMPARISONS, "kind").text, "{{kind}} compared"),
        ],
    ),
    Panel("Lateness", "Of the event loop.", [largest(operator.LOOP_LAG, "pod")], "s"),
)

APPS = (
    Panel("Read", "Records a second.", [rate(driver.ROWS_IN, "app", "stream", within=_APP)], "rowsps"),
    Panel("Written", "Records a second.", [rate(driver.ROWS_OUT, "app", "stream", within=_APP)], "rowsps"),
    Panel(
        "Bytes",
        "Of values, a second.",
        [
            Query(rate(driver.BYTES_IN, "app", "stream", within=_APP).text, "{{app}} {{stream}} read"),
            Query(rate(driver.BYTES_OUT, "app", "stream", within=_APP).text, "{{app}} {{stream}} written"),
        ],
        "Bps",
    ),
    Panel("Lag", "Records that are not yet read.", [whole(driver.LAG, "app", "stream", within=_APP)]),
    Panel(
        "Event time behind now",
        "How old the watermark of each stream is.",
        [behind(driver.WATERMARK, "app", "stream", within=_APP)],
        "s",
    ),
    Panel(
        "Time of a batch",
        "As the driver sees it.",
        quantiles(driver.SECONDS, "app", within=f'{_APP}, step="{driver.BATCH}"'),
        "s",
    ),
    Panel(
        "Where the time goes",
        "Seconds in each step for each second, all lanes together.",
        [
            Query(
                f"sum by (app, step) (rate({driver.SECONDS.name}_sum"
                f'{{{_APP}, step!="{driver.BATCH}"}}[$__rate_interval]))',
                "{{app}} {{step}}",
            )
        ],
        "s",
    ),
    Panel(
        "Batches",
        "A second; failed ones are tried again.",
        [
            Query(rate(driver.BATCHES, "app", within=_APP).text, "{{app}}"),
            Query(rate(driver.FAILED, "app", within=_APP).text, "{{app}} failed"),
        ],
        "ops",
    ),
    Panel(
        "Left out",
        "Rows that could not be processed, had no key or no time, or came late, in the time that is shown.",
        [
            Query(grown(driver.BAD, "app", within=_APP).text, "{{app}} bad"),
            Query(grown(driver.NULL_KEYS, "app", "name", within=_APP).text, "{{app}} {{name}} no key"),
            Query(grown(driver.NULL_TIMES, "app", "name", within=_APP).text, "{{app}} {{name}} no time"),
            Query(grown(driver.LATE_ROWS, "app", "operator", within=_APP).text, "{{app}} {{operator}} late"),
        ],
    ),
    Panel("State", "Entries on disk.", [whole(driver.ENTRIES, "app", "table", within=_APP)]),
    Panel("State", "Bytes on disk.", [whole(driver.BYTES, "app", "table", within=_APP)], "bytes"),
    Panel(
        "Cleared state",
        "Bytes of stores that nobody owned any more, in the time that is shown.",
        [grown(driver.FREED, "app", "table", within=_APP)],
        "bytes",
    ),
    Panel(
        "Coming back",
        "Tasks whose stores are not yet complete, and records of side inputs that are waited for.",
        [
            Query(whole(driver.RESTORING, "app", within=_APP).text, "{{app}} tasks"),
            Query(whole(driver.FILLING, "app", within=_APP).text, "{{app}} records"),
        ],
    ),
    Panel("Replayed", "Changelog entries a second.", [rate(driver.RESTORED, "app", within=_APP)], "ops"),
    Panel(
        "Replayed bytes",
        "Bytes of changelog entries a second.",
        [rate(driver.RESTORED_BYTES, "app", within=_APP)],
        "Bps",
    ),
    Panel("Tasks", "By processor.", [whole(driver.TASKS, "app", "processor", within=_APP)]),
    Panel(
        "Changes",
        "Job models, drivers, and tasks that moved. A refused growth or wish waits for somebody.",
        [
            Query(largest(driver.MODEL, "app", within=_APP).text, "{{app}} job model"),
            Query(largest(driver.INCARNATION, "app", within=_APP).text, "{{app}} driver"),
            Query(grown(driver.MOVED, "app", within=_APP).text, "{{app}} tasks moved"),
            Query(largest(driver.REFUSED, "app", within=_APP).text, "{{app}} refused"),
        ],
    ),
    Panel(
        "Remote tables",
        "Keys a second: asked for, known to the cache, left without an answer.",
        [
            Query(rate(driver.REMOTE_ASKED, "app", "table", within=_APP).text, "{{app}} {{table}} asked"),
            Query(rate(driver.REMOTE_CACHED, "app", "table", within=_APP).text, "{{app}} {{table}} cached"),
            Query(
                rate(driver.REMOTE_UNANSWERED, "app", "table", within=_APP).text,
                "{{app}} {{table}} unanswered",
            ),
        ],
        "ops",
    ),
)

"""What a page shows at one moment, as JSON without a version: page and driver are of one release.

`streamapp top` reads it as well, and refuses as a whole what it cannot read.

One pure function of what is known. Names are as plans are drawn with them: the page finds their nodes so.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.graph.wiring import direct_producers, streams_read
from streamapp.plan.render.display_names import legible
from streamapp.plan.render.wording import ROLES, counted
from streamapp_runtime.driver.page.run_facts import RunFacts
from streamapp_runtime.driver.page.run_history import history_columns
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.driver.status_rules import SHOWN_STATUSES, is_fine
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

HIDDEN_REASON: Final = "hidden, since it may repeat values"
HIDDEN_MESSAGE: Final = "the driver's log says why"
_MOST_REASONS: Final = 5
"""So many different failures of tasks are named beside each other; each task has its own in any case."""
HELD_BACK_MILLISECONDS: Final = 60_000
"""So far one stream may be ahead of another before the same operator, without a word."""
_REMOTE: Final = "waits for a remote table"
_AWAY: Final = frozenset({TaskStatus.WAITING, TaskStatus.AWAY})
Fields = dict[str, object]


def app_snapshot(facts: RunFacts) -> Fields:
    """All that a page shows, but for the picture of the plan."""
    return live_fields(facts) | {"history": history_columns(facts.history)}


def live_fields(facts: RunFacts) -> Fields:
    """What a page that has the history is told of later: its newest point, and everything else."""
    app, last = facts.app, facts.last
    reports = {report.task: report for report in last.reports} if last else {}
    watermarks = last.watermarks if last else {}
    return {
        "app": app.name if app else "",
        "state": _state(facts, reports),
        "now": round(facts.now, 3),
        "started": round(facts.started, 3),
        "model": app.model if app else 0,
        "incarnation": facts.incarnation,
        "activity": _activity(facts),
        "activeSince": round(facts.active_since, 3),
        "lag": last.lag if last else 0,
        "showValues": facts.show_values,
        "point": facts.history[-1].columns() if facts.history else None,
        "streams": list(_streams(app, facts, watermarks)) if app else [],
        "operators": list(_operators(app, facts, watermarks)) if app else [],
        "tables": list(_tables(app, facts)) if app else [],
        "processors": list(_processors(app, facts, reports)) if app else [],
        "batches": [
            {
                "number": batch.number,
                "at": round(batch.at, 3),
                "seconds": round(batch.seconds, 4),
                "rowsIn": batch.rows_in,
                "rowsOut": batch.rows_out,
                "steps": [[legible(name), round(seconds, 4)] for name, seconds in batch.steps],
            }
            for batch in reversed(facts.batches)
        ],
        "bad": facts.bad,
        "late": sum(facts.late.values()),
        "leftOut": _left_out(facts),
        "growths": list(_growths(app)) if app else [],
        "filling": last.filling if last else 0,
        "waits": list(_waits(facts)),
        "refused": [one.message for one in facts.refused],
        "notes": [
            {"at": round(note.at, 3), "kind": note.kind, "text": note.text, "moved": note.moved}
            for note in reversed(facts.notes)
        ],
    }


def _activity(facts: RunFacts) -> str:
    """What the driver does. What a client of a remote table says is its own, and may name keys."""
    return facts.activity if facts.show_values or not facts.activity.startswith(_REMOTE) else _REMOTE


def _state(facts: RunFacts, reports: Mapping[str, TaskReport]) -> str:
    if facts.app is None or facts.last is None:
        return "starting"
    statuses = {report.status for report in reports.values()}
    if TaskStatus.RESTORING in statuses:
        return "restoring"
    if facts.activity.startswith("waits ") or not all(map(is_fine, statuses)):
        return "waiting"
    return "running"


def _streams(app: RunningApp, facts: RunFacts, watermarks: Mapping[str, int]) -> Iterator[Fields]:
    lags = facts.last.lags if facts.last else {}
    for stream in app.plan.streams.values():
        yield {
            "name": legible(stream.name),
            "role": ROLES[stream.role],
            "system": legible(stream.system),
            "partitions": app.counts.get(stream.name) or stream.partitions,
            "inPerSecond": _rate(facts.rates_in, stream.name),
            "outPerSecond": _rate(facts.rates_out, stream.name),
            "lag": lags.get(stream.name, 0),
            **_watermark(watermarks.get(stream.name), facts.now),
        }


def _rate(rates: Mapping[str, float], stream: str) -> float | None:
    """Records a second; None for a stream that was never read, or never written."""
    return round(rates[stream], 1) if stream in rates else None


def _operators(app: RunningApp, facts: RunFacts, watermarks: Mapping[str, int]) -> Iterator[Fields]:
    streams = _streams_before(app.graph)
    for name, operator in sorted(app.graph.operators.items()):
        if operator.is_input:
            continue
        times = [watermarks[stream] for stream in streams[name] if stream in watermarks]
        yield {
            "name": legible(name),
            "kind": str(operator.kind),
            "late": facts.late.get(name, 0),
            **_watermark(min(times, default=None), facts.now),
        }


def _streams_before(graph: Graph) -> dict[str, frozenset[str]]:
    """The streams whose rows reach an operator within its task."""
    streams: dict[str, frozenset[str]] = {}

    def before(operator: OperatorNode, path: frozenset[str]) -> frozenset[str]:
        if operator.name in streams or operator.name in path:
            return streams.get(operator.name, frozenset())
        path |= {operator.name}
        producers = [before(producer, path) for producer in direct_producers(graph, operator)]
        return streams.setdefault(operator.name, frozenset(streams_read(graph, operator)).union(*producers))

    for operator in graph.operators.values():
        before(operator, frozenset())
    return streams


def _watermark(watermark: int | None, now: float) -> Fields:
    """A watermark in seconds since 1970, and how far it is behind the clock."""
    if watermark is None:
        return {"watermark": None, "behind": None}
    return {"watermark": watermark / 1000, "behind": round(now - watermark / 1000, 1)}


def _tables(app: RunningApp, facts: RunFacts) -> Iterator[Fields]:
    """The tables of the resource, and the stores of operators that keep state."""
    sizes = app.sizes()
    kinds = {
        name: "remote table" if table.remote else "broadcast table" if table.broadcast else "table"
        for name, table in app.graph.tables.items()
    }
    for name in sorted(kinds.keys() | sizes.keys() | facts.remote.keys()):
        entries, size = sizes.get(name, (None, None))
        remote = facts.remote.get(name)
        yield {
            "name": legible(name),
            "kind": kinds.get(name, "state"),
            "entries": entries,
            "bytes": size,
            "asked": remote.asked if remote else None,
            "cached": remote.cached if remote else None,
            "unanswered": remote.unanswered if remote else None,
        }


def _processors(app: RunningApp, facts: RunFacts, reports: Mapping[str, TaskReport]) -> Iterator[Fields]:
    for name, tasks in sorted(app.lanes.items(), key=lambda lane: _by_number(lane[0])):
        fields = [_task(task, app, facts, reports.get(task)) for task in sorted(tasks, key=_by_number)]
        located = {reports[task].location for task in tasks if task in reports} - {""}
        yield {
            "name": name,
            "location": ", ".join(sorted(located)) or app.locations.get(name) or "",
            "states": dict(Counter(str(task["state"]) for task in fields)),
            "tasks": fields,
        }


def _task(task: str, app: RunningApp, facts: RunFacts, report: TaskReport | None) -> Fields:
    fields: Fields = {"name": legible(task), "partitions": list(map(legible, app.partitions.get(task, ())))}
    if report is None:
        why = "not run by this model yet" if facts.last is None else "its processor is missing"
        return fields | {"state": "waiting", "why": why}
    if report.status is TaskStatus.RESTORING:
        return fields | {"state": "restoring", "why": "its stores are brought back, and it reads nothing"}
    if is_fine(report.status):
        paused = ", ".join(report.paused_inputs)
        return fields | {"state": "working", "why": f"waits with {legible(paused)}" if paused else ""}
    return fields | {"state": "waiting", "why": _failure(facts, report)}


def _failure(facts: RunFacts, report: TaskReport) -> str:
    """What a task says of its failure, as far as that may be shown."""
    message = HIDDEN_MESSAGE
    if facts.show_values or report.status in SHOWN_STATUSES:
        message = report.message
    elif report.status in _AWAY:
        message = report.message.partition(": ")[0]  # which table it is
    return f"{report.status}: {legible(message)}"


def _by_number(name: str) -> tuple[str | int, ...]:
    """Sorts `processor-10` after `processor-9`: texts and numbers take turns."""
    return tuple(int(part) if place % 2 else part for place, part in enumerate(re.split(r"(\d+)", name)))


def _left_out(facts: RunFacts) -> list[Fields]:
    """Records that were left out, by stream and reason; by stream alone where reasons are hidden."""
    counts: Counter[tuple[str, str]] = Counter()
    for (stream, reason), number in facts.rejected.items():
        counts[stream, reason if facts.show_values else HIDDEN_REASON] += number
    return [
        {"stream": legible(stream), "reason": legible(reason), "records": number}
        for (stream, reason), number in counts.most_common()
    ]


def _growths(app: RunningApp) -> Iterator[Fields]:
    """Growths of streams, the newest first; one without offsets waits until producers use the new count."""
    for split in sorted(app.splits, key=lambda split: -split.seen_at):
        yield {
            "stream": legible(split.stream),
            "before": split.before,
            "after": split.after,
            "seen": round(split.seen_at, 3),
            "settled": split.offsets is not None,
        }


def _waits(facts: RunFacts) -> Iterator[str]:
    """What the app waits for, in sentences."""
    if facts.activity.startswith("waits "):
        yield _activity(facts)
    elif facts.awaited:
        yield f"rows wait for the first version of {', '.join(facts.awaited)}"
    if facts.last and facts.last.filling:
        yield f"main inputs wait for {facts.last.filling:,} records of side inputs"
    if facts.slow:
        yield facts.slow
    reports = facts.last.reports if facts.last else ()
    restoring = sum(report.status is TaskStatus.RESTORING for report in reports)
    if restoring:
        yield f"{counted(restoring, 'task')} restoring: no rows for these until their stores are back"
    failed = Counter(_failure(facts, report) for report in reports if not is_fine(report.status))
    for why, number in failed.most_common(_MOST_REASONS):
        yield f"{counted(number, 'task')}: {why}"
    yield from _held_back(facts)
    if facts.last and len(reports) < sum(map(len, facts.app.lanes.values() if facts.app else ())):
        yield "some tasks wait for a processor that is missing"


def _held_back(facts: RunFacts) -> Iterator[str]:
    """The streams whose watermarks hold operators back, while others before them are far ahead."""
    if facts.app is None or facts.last is None:
        return
    watermarks, operators = facts.last.watermarks, facts.app.graph.operators
    held: dict[tuple[str, str], list[str]] = {}
    for name, streams in sorted(_streams_before(facts.app.graph).items()):
        timed = sorted((watermarks[stream], stream) for stream in streams if stream in watermarks)
        if not timed or operators[name].is_input or timed[-1][0] - timed[0][0] < HELD_BACK_MILLISECONDS:
            continue
        held.setdefault((timed[0][1], timed[-1][1]), []).append(legible(name))
    for (stream, other), names in held.items():
        stands = datetime.fromtimestamp(watermarks[stream] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        minutes = (watermarks[other] - watermarks[stream]) // 60_000
        shown = ", ".join(names[:_MOST_REASONS]) + f" and {len(names) - _MOST_REASONS} more" * (
            len(names) > _MOST_REASONS
        )
        yield (
            f"{legible(stream)} holds back the watermark of {shown}: it stands at {stands} UTC,"
            f" {counted(minutes, 'minute')} behind {legible(other)};"
            " look for a partition of it without new records"
        )

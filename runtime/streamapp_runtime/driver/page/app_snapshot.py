"""The snapshot that a page shows, as JSON without a version: page and driver are of one release.

`streamapp top` reads it as well, and refuses as a whole what it cannot read.

One pure function of what is known. Names are as plans are drawn with them: the page finds their nodes so.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from streamapp.placement.placement_reason import PlacementReason
from streamapp.plan.render.wording import ROLES, legible
from streamapp_runtime.driver.page.run_facts import RunFacts
from streamapp_runtime.driver.page.run_history import Columns, history_columns, stream_history_columns
from streamapp_runtime.driver.page.run_waits import missing_tasks, shown_activity, task_failure, waits
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.driver.page.slow_batches import step_shares
from streamapp_runtime.driver.status_rules import is_fine
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

HIDDEN_ROWS: Final = "hidden: --show-values or page.showValues shows them\n"
HIDDEN_REASON: Final = "hidden, since it may repeat values"
PLACEMENTS: Final = tuple(PlacementReason)
"""Tasks have the number of their reason, since its sentence is as long as all else of a task."""
Fields = dict[str, object]


def app_snapshot(facts: RunFacts) -> Fields:
    """All that a page shows, but for the picture of the plan."""
    return live_fields(facts) | {"history": history_columns(facts.history), "placements": PLACEMENTS}


def stream_history(facts: RunFacts, shown_name: str) -> Columns | None:
    """The history of the stream that a page shows by this name; None where the app has none."""
    stream = _stream_shown_as(facts, shown_name)
    return None if stream is None else stream_history_columns(facts.history, stream)


def stream_growth(facts: RunFacts, shown_name: str) -> Fields | None:
    """The outlook on a growth of the stream that a page shows by this name; None where the app has none.

    It is asked for when a stream is chosen: each answer plans the app anew.
    """
    stream = _stream_shown_as(facts, shown_name)
    if facts.app is None or stream is None:
        return None
    outlook = facts.app.on_demand.outlook(stream)
    return {"text": legible(outlook.text) if outlook else ""}


def stream_rows(facts: RunFacts, shown_name: str) -> Fields | None:
    """The newest rows of the stream that a page shows by this name; None where the app has none."""
    stream = _stream_shown_as(facts, shown_name)
    if facts.app is None or stream is None:
        return None
    return {"text": facts.app.on_demand.rows(stream) if facts.show_values else HIDDEN_ROWS}


def _stream_shown_as(facts: RunFacts, shown_name: str) -> str | None:
    streams = facts.app.plan.streams if facts.app else {}
    return next((name for name in streams if legible(name) == shown_name), None)


def live_fields(facts: RunFacts) -> Fields:
    """The fields for a page that has the history: its newest point, and everything else."""
    app, last = facts.app, facts.last
    lost_tasks = missing_tasks(facts)
    reports = {task: report for task, report in facts.reports.items() if task not in lost_tasks}
    watermarks = last.watermarks if last else {}
    return {
        "app": app.name if app else "",
        "state": _state(facts, reports),
        "now": round(facts.now, 3),
        "started": round(facts.started, 3),
        "model": app.model if app else 0,
        "incarnation": facts.incarnation,
        "activity": shown_activity(facts),
        "activeSince": round(facts.active_since, 3),
        "lag": last.lag if last else 0,
        "showValues": facts.show_values,
        "point": facts.history[-1].columns() if facts.history else None,
        "streams": list(_streams(app, facts, watermarks)) if app else [],
        "operators": list(_operators(app, facts)) if app else [],
        "tables": list(_tables(app, facts)) if app else [],
        "deliveries": list(_deliveries(facts)),
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
        "bad": facts.left_out.bad,
        "late": sum(facts.left_out.late.values()),
        "leftOut": _left_out(facts),
        "samples": list(_samples(facts)),
        "growths": list(_growths(app)) if app else [],
        "filling": last.filling if last else 0,
        "waits": [{"kind": wait.kind, "text": wait.text} for wait in waits(facts)],
        "refused": [one.message for one in facts.refused],
        "notes": [
            {
                "at": round(note.at, 3),
                "kind": note.kind,
                "text": note.text,
                "moved": note.moved,
                "reasons": list(note.reasons),
            }
            for note in reversed(facts.notes)
        ],
    }


def _state(facts: RunFacts, reports: Mapping[str, TaskReport]) -> str:
    if facts.app is None or facts.last is None:
        return "starting"
    statuses = {report.status for report in reports.values()}
    if TaskStatus.RESTORING in statuses:
        return "restoring"
    if facts.activity.startswith("waits ") or facts.obstacles.missing or not all(map(is_fine, statuses)):
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


def _operators(app: RunningApp, facts: RunFacts) -> Iterator[Fields]:
    shares = step_shares(facts)
    for name, operator in sorted(app.graph.operators.items()):
        if operator.is_input:
            continue
        watermark = facts.last.reached.lowest(app.reach(name)) if facts.last else None
        yield {
            "name": legible(name),
            "kind": str(operator.kind),
            "late": facts.left_out.late.get(name, 0),
            "share": round(shares[name], 4) if name in shares else None,
            **_watermark(watermark, facts.now),
        }


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


def _deliveries(facts: RunFacts) -> Iterator[Fields]:
    for status in facts.obstacles.deliveries:
        yield {
            "system": legible(status.system),
            "records": status.delivered,
            "waiting": status.waiting,
            "commits": status.commits,
            "failures": status.failures,
        }


def _processors(app: RunningApp, facts: RunFacts, reports: Mapping[str, TaskReport]) -> Iterator[Fields]:
    for name, tasks in sorted(app.lanes.items(), key=lambda lane: _by_number(lane[0])):
        is_missing = name in facts.obstacles.missing
        absent = "its processor is missing" if is_missing else "not run by this model yet"
        fields = [
            _task(task, app, facts, reports.get(task, absent)) for task in sorted(tasks, key=_by_number)
        ]
        located = {reports[task].location for task in tasks if task in reports} - {""}
        yield {
            "name": name,
            "location": ", ".join(sorted(located)) or app.locations.get(name) or "",
            "states": dict(Counter(str(task["state"]) for task in fields)),
            "tasks": fields,
        }


def _task(task: str, app: RunningApp, facts: RunFacts, report: TaskReport | str) -> Fields:
    """A task by its last report, or by why there is none."""
    fields: Fields = {
        "name": legible(task),
        "partitions": list(map(legible, app.partitions.get(task, ()))),
        "placement": PLACEMENTS.index(app.reasons[task]) if task in app.reasons else None,
        "inPerSecond": _rate(facts.task_rates, task),
        "lag": facts.last.task_lags.get(task, 0) if facts.last else 0,
    }
    if isinstance(report, str):
        return fields | {"state": "waiting", "why": report}
    if report.status is TaskStatus.RESTORING:
        return fields | {"state": "restoring", "why": "its stores are brought back, and it reads nothing"}
    if is_fine(report.status):
        paused = ", ".join(report.paused_inputs)
        return fields | {"state": "working", "why": f"waits with {legible(paused)}" if paused else ""}
    return fields | {"state": "waiting", "why": task_failure(facts, report)}


def _by_number(name: str) -> tuple[str | int, ...]:
    """Sorts `processor-10` after `processor-9`: texts and numbers take turns."""
    return tuple(int(part) if place % 2 else part for place, part in enumerate(re.split(r"(\d+)", name)))


def _left_out(facts: RunFacts) -> list[Fields]:
    """Records that were left out, by stream and reason; by stream alone where reasons are hidden."""
    counts: Counter[tuple[str, str]] = Counter()
    for (stream, reason), number in facts.left_out.rejected.items():
        counts[stream, reason if facts.show_values else HIDDEN_REASON] += number
    return [
        {"stream": legible(stream), "reason": legible(reason), "records": number}
        for (stream, reason), number in counts.most_common()
    ]


def _samples(facts: RunFacts) -> Iterator[Fields]:
    """Some of what was left out, the newest first. Where values are hidden, it is the places alone."""
    for sample in reversed(facts.left_out.samples):
        yield {
            "stream": legible(sample.stream),
            "partition": sample.partition,
            "offset": sample.offset,
            "reason": legible(sample.reason) if facts.show_values else HIDDEN_REASON,
            "key": _content(sample.key, facts),
            "value": _content(sample.value, facts),
        }


def _content(text: str | None, facts: RunFacts) -> str:
    if not facts.show_values:
        return "hidden"
    return "null" if text is None else legible(text)


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

"""The waits of an app and the causes that hold it back, in sentences that the page, `top` and `why` share."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from streamapp.plan.render.wording import counted, legible, listed
from streamapp.protocol.page_wait import Wait, WaitKind
from streamapp_runtime.driver.inputs.open_transactions import open_transactions_text
from streamapp_runtime.driver.inputs.unread_partitions import unread_partitions_text
from streamapp_runtime.driver.page.run_facts import RunFacts
from streamapp_runtime.driver.page.slow_batches import is_behind, slow_batches
from streamapp_runtime.driver.status_rules import SHOWN_STATUSES, is_fine
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.systems.answering_systems import silent_systems_text

_HIDDEN_MESSAGE: Final = "the driver's log says why"
_MOST_REASONS: Final = 5
"""So many different failures of tasks are named beside each other; each task has its own in any case."""
HELD_BACK_MILLISECONDS: Final = 60_000
"""So far one stream may be ahead of another before the same operator, without a word."""
SKEW: Final = 4
"""A task that has so many times the unread records of the others on average is behind alone."""
_REMOTE: Final = "waits for a remote table"
_AWAY: Final = frozenset({TaskStatus.WAITING, TaskStatus.AWAY})


def waits(facts: RunFacts) -> Iterator[Wait]:
    """The waits of the app and the causes that hold it back."""
    yield from (Wait(WaitKind.DRIVER_WAITS, text) for text in _driver_waits(facts))
    yield from (Wait(WaitKind.STUCK_WATERMARK, text) for text in (*_held_back(facts), *_never_read(facts)))
    yield from (Wait(WaitKind.SLOW_TASK, text) for text in _behind_alone(facts))
    yield from slow_batches(facts)


def _driver_waits(facts: RunFacts) -> Iterator[str]:
    """The waits of the app, in sentences."""
    if facts.activity.startswith("waits "):
        yield shown_activity(facts)
    elif facts.obstacles.awaited:
        yield f"rows wait for the first version of {', '.join(facts.obstacles.awaited)}"
    if facts.obstacles.open_transactions:
        yield legible(open_transactions_text(facts.obstacles.open_transactions))
    if facts.obstacles.silent:
        yield legible(silent_systems_text(facts.obstacles.silent))
    yield from (legible(str(status)) for status in facts.obstacles.deliveries if status.is_hindered)
    if facts.obstacles.unread:
        yield legible(unread_partitions_text(facts.obstacles.unread))
    if facts.last and facts.last.filling:
        yield f"main inputs wait for {facts.last.filling:,} records of side inputs"
    if facts.obstacles.slow:
        yield facts.obstacles.slow
    lost_tasks = missing_tasks(facts)
    reports = [report for task, report in facts.reports.items() if task not in lost_tasks]
    restoring = sum(report.status is TaskStatus.RESTORING for report in reports)
    if restoring:
        yield f"{counted(restoring, 'task')} restoring: no rows for these until their stores are back"
    failed = Counter(task_failure(facts, report) for report in reports if not is_fine(report.status))
    for why, number in failed.most_common(_MOST_REASONS):
        yield f"{counted(number, 'task')}: {why}"
    if lost_tasks:
        names = ", ".join(map(legible, sorted(facts.obstacles.missing)))
        are, them = ("is", "it") if len(facts.obstacles.missing) == 1 else ("are", "them")
        wait = "1 task waits" if len(lost_tasks) == 1 else f"{len(lost_tasks)} tasks wait"
        yield f"{names} {are} missing: {wait} for {them}"


def _held_back(facts: RunFacts) -> Iterator[str]:
    """The streams whose watermarks hold operators back, while others before them are far ahead."""
    if facts.app is None or facts.last is None:
        return
    watermarks, operators = facts.last.watermarks, facts.app.graph.operators
    held: dict[tuple[str, str], list[str]] = {}
    for name, streams in sorted(facts.app.streams_before.items()):
        timed = sorted((watermarks[stream], stream) for stream in streams if stream in watermarks)
        if not timed or operators[name].is_input or timed[-1][0] - timed[0][0] < HELD_BACK_MILLISECONDS:
            continue
        held.setdefault((timed[0][1], timed[-1][1]), []).append(legible(name))
    for (stream, other), names in held.items():
        stands = datetime.fromtimestamp(watermarks[stream] / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
        minutes = (watermarks[other] - watermarks[stream]) // 60_000
        still = int(facts.now - facts.watermarks_moved.get(stream, facts.now)) // 60
        unmoved = f" and has not moved for {counted(still, 'minute')}" if still else ""
        held_names = listed(names, _MOST_REASONS)
        yield (
            f"{legible(stream)} holds back the watermark of {held_names}: it is at {stands} UTC{unmoved},"
            f" {counted(minutes, 'minute')} behind {legible(other)};"
            " look for a partition of it without new records"
        )


def _never_read(facts: RunFacts) -> Iterator[str]:
    """Inputs of which tasks have no watermark, for want of a first record, while there are watermarks."""
    if facts.app is None or facts.last is None:
        return
    if (facts.now - facts.started) * 1000 < HELD_BACK_MILLISECONDS:
        return
    readers, unmarked = Counter[str](), Counter[str]()
    for task, watermarks in facts.last.reached.tasks.items():
        inputs = facts.app.timed_inputs.get(task, frozenset())
        readers.update(inputs)
        unmarked.update(stream for stream in inputs if watermarks.get(stream) is None)
    if unmarked == readers:  # nothing has come at all
        return
    for stream, number in sorted(unmarked.items()):
        yield (
            f"{legible(stream)} has given {number} of {counted(readers[stream], 'task')} no record yet, and"
            " so no watermark: windows and joins that its rows reach wait for it; where partitions may stay"
            " empty, set its eventTime.idleTimeout"
        )


def _behind_alone(facts: RunFacts) -> Iterator[str]:
    """The task that has most of the records that are not yet read, while it works and the others have few."""
    if facts.app is None or facts.last is None:
        return
    lags, tasks = facts.last.task_lags, sum(map(len, facts.app.lanes.values()))
    if tasks < 2 or not is_behind(facts):
        return
    total = sum(lags.values())
    task = max(lags, key=lambda name: lags[name])
    working = {name for name, report in facts.reports.items() if is_fine(report.status)}
    if task not in working or lags[task] < SKEW * (total - lags[task]) / (tasks - 1):
        return
    read = ", ".join(map(legible, facts.app.partitions.get(task, ())[:_MOST_REASONS]))
    yield (
        f"task {legible(task)}, one of {tasks}, has {lags[task] * 100 // total} % of the records that are not"
        f" yet read: more processors do not help; look for a key that most records of {read} have"
    )


def missing_tasks(facts: RunFacts) -> frozenset[str]:
    """The tasks whose processor is missing."""
    lanes = facts.app.lanes if facts.app else {}
    return frozenset(task for name in facts.obstacles.missing for task in lanes.get(name, ()))


def shown_activity(facts: RunFacts) -> str:
    """The activity of the driver. The words of a remote table's client are its own, and may name keys."""
    return facts.activity if facts.show_values or not facts.activity.startswith(_REMOTE) else _REMOTE


def task_failure(facts: RunFacts, report: TaskReport) -> str:
    """The failure that a task reports, as far as it may be shown."""
    message = _HIDDEN_MESSAGE
    if facts.show_values or report.status in SHOWN_STATUSES:
        message = report.message
    elif report.status in _AWAY:
        message = report.message.partition(": ")[0]  # which table it is
    return f"{report.status}: {legible(message)}"

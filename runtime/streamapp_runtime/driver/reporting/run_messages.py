"""The words that a run says of itself, each as a text for people and as facts for machines."""

import json
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from streamapp.plan.partition_plan import Role
from streamapp.plan.render.wording import counted
from streamapp.spec.log_levels import LogLevel
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.bad_records.search_watch import SearchProgress
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.batches.run_change import ChangeKind, RunChange
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.checkpoints.state_reset import DroppedState
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction, open_transactions_text
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition, unread_partitions_text
from streamapp_runtime.driver.reporting.open_windows import OpenWindows
from streamapp_runtime.driver.reporting.recent_progress import RecentProgress
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.lanes.protocol.rejections import merged_reasons
from streamapp_runtime.systems.answering_systems import SilentSystem, silent_systems_text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
READ = (Role.INPUT, Role.INPUT_OUTPUT, Role.SIDE_INPUT)
SUMMARY_REASONS = 3
"""So many reasons for which records were left out are named in the last line of a run."""
WRITTEN = (Role.OUTPUT, Role.INPUT_OUTPUT)


@dataclass(frozen=True, slots=True)
class RunTotals:
    """The totals of some batches."""

    batches: int = 0
    rows_in: int = 0
    rows_out: int = 0
    restored: int = 0
    restored_bytes: int = 0
    bad: int = 0
    late: int = 0
    seconds: float = 0.0
    rejected: Counter[tuple[str, str]] = field(default_factory=Counter)  # left out, by stream and reason
    lacking: Counter[tuple[str, str]] = field(
        default_factory=Counter
    )  # left out, by operator: no key, no time

    def with_batch(self, batch: BatchResult, intermediate: Container[str] = ()) -> "RunTotals":
        """The same and one batch more, without rows that only pass through these streams of the app."""
        rows_in, rows_out = batch.rows_of_users(intermediate)
        return RunTotals(
            self.batches + 1,
            self.rows_in + rows_in,
            self.rows_out + rows_out,
            self.restored + batch.restored,
            self.restored_bytes + batch.restored_bytes,
            self.bad + batch.bad,
            self.late + batch.late,
            self.seconds + batch.seconds,
            merged_reasons(self.rejected, batch.rejected),
            self.lacking + Counter(batch.lacking),
        )

    def since(self, earlier: "RunTotals") -> "RunTotals":
        """The difference from earlier totals."""
        return RunTotals(
            self.batches - earlier.batches,
            self.rows_in - earlier.rows_in,
            self.rows_out - earlier.rows_out,
            self.restored - earlier.restored,
            self.restored_bytes - earlier.restored_bytes,
            self.bad - earlier.bad,
            self.late - earlier.late,
            self.seconds - earlier.seconds,
            self.rejected - earlier.rejected,
            self.lacking - earlier.lacking,
        )


@dataclass(frozen=True, slots=True)
class RunMessage:
    """One thing to be told: as a text, and as facts for machines."""

    text: str
    facts: dict[str, object]
    passing: bool = False  # soon followed by another of its kind, which may stand in its place
    short: str = ""  # the text where another takes its place; empty: the text itself
    level: LogLevel = "info"

    def as_json(self) -> str:
        """On one line."""
        return json.dumps(self.facts)


def telemetry_message(text: str) -> RunMessage:
    """That traces or lineage events do not reach their receiver, or do so again."""
    return RunMessage(text, {"event": "telemetry", "message": text}, level="warn")


def plan_message(launch: Launch) -> RunMessage:
    """The plan that runs, with the partition counts of today; and its state that was given up, if any."""
    streams = launch.proposal.plan.streams.values()
    side_outputs = _side_outputs(launch.app)
    planned_counts = dict.fromkeys(side_outputs.values()) | {s.name: s.partitions for s in streams}
    counts = {name: launch.counts.get(name) or planned for name, planned in planned_counts.items()}
    read = [stream.name for stream in streams if stream.role in READ]
    inner = [stream.name for stream in streams if stream.role is Role.INTERMEDIATE]
    aside = set(side_outputs.values())
    written = [stream.name for stream in streams if stream.role in WRITTEN and stream.name not in aside]
    tasks, processors = len(launch.partitions), len(launch.lanes)
    name = launch.app.application_id
    roles = [("reads", read), ("through", inner), ("writes", written)]
    listed = "; ".join(
        f"{verb} {', '.join(_with_count(one, counts) for one in names)}" for verb, names in roles if names
    )
    lanes = f"{counted(tasks, 'task')} on {counted(processors, 'processor')}"
    facts = {"event": "started", "app": name, "tasks": tasks, "processors": processors, "streams": counts}
    text = f"{name}: {lanes}\n  {listed}"
    if side_outputs:
        text += "\n  " + "; ".join(
            f"{rows} to {_with_count(one, counts)}" for rows, one in side_outputs.items()
        )
        facts["sideOutputs"] = side_outputs
    if (dropped := launch.context.ledger.dropped) is not None:
        text += f"\n  {_dropped_text(dropped)}"
        facts |= {"reset": True, "droppedStores": list(dropped.stores)}
    if launch.abandoned_stores:
        names = ", ".join(launch.abandoned_stores)
        text += f"\n  state that nothing in the app has any more, and that stays as it is: {names}"
        facts["abandonedStores"] = list(launch.abandoned_stores)
    return RunMessage(text, facts)


def _side_outputs(app: StreamApp) -> dict[str, str]:
    """The streams that take what goes nowhere else, by what that is."""
    spec = app.spec
    takers = {
        "bad records": spec.on_bad_record.stream if spec.on_bad_record.action == "deadLetter" else None,
        "errors of code": spec.on_code_error.stream if spec.on_code_error.action == "deadLetter" else None,
        "late rows": spec.late_rows.stream if spec.late_rows.action == "stream" else None,
    }
    return {rows: stream for rows, stream in takers.items() if stream is not None}


def _dropped_text(dropped: DroppedState) -> str:
    cause = "--fresh" if dropped.forced else "resetNonce"
    text = f"starts from scratch, as {cause} says; dropped: all positions"
    return text + f", the state of {', '.join(dropped.stores)}" * bool(dropped.stores)


def batch_message(
    batch: BatchResult, since: RunTotals, bad: int, seconds: float, recent: RecentProgress, *, bounded: bool
) -> RunMessage:
    """The progress message: the work of some batches in so many seconds, and the state after the last one.

    The short text has the rates of the last seconds and, where the work is `bounded`, when it should end.
    """
    span = max(seconds, 1e-9)
    rows_in, rows_out = since.rows_in / span, since.rows_out / span
    milliseconds = 1000 * since.seconds / max(since.batches, 1)
    text = f"batch {batch.number:>5}  in {rows_in:>9,.0f}/s  out {rows_out:>9,.0f}/s"
    text += f"  lag {batch.lag:>9,}  {milliseconds:>5,.0f} ms a batch"
    notes = f"  restored {since.restored:,} ({_size(since.restored_bytes)})" * bool(since.restored)
    notes += f"  restoring {counted(batch.restoring, 'task')}" * bool(batch.restoring)
    notes += f"  {counted(batch.filling, 'record')} to load into tables" * bool(batch.filling)
    notes += f"  bad {bad:,}" * bool(bad)
    notes += f"  late {since.late:,}" * bool(since.late)
    notes += "".join(f"  {text}" for text in _lacking_texts(since))
    notes += f"  watermark {watermark_text(min(batch.watermarks.values()))}" if batch.watermarks else ""
    recent_in, recent_out = recent.rates
    short = f"in {recent_in:,.0f}/s  out {recent_out:,.0f}/s  lag {batch.lag:,}"
    if bounded:
        left = recent.seconds_left
        short += "  ETA " + ("unknown" if left is None else str(timedelta(seconds=round(left))))
    facts: dict[str, object] = {
        "event": "progress",
        "batch": batch.number,
        "rowsInPerSecond": round(rows_in, 1),
        "rowsOutPerSecond": round(rows_out, 1),
        "lag": batch.lag,
        "batchMilliseconds": round(milliseconds, 1),
        "restored": since.restored,
        "restoredBytes": since.restored_bytes,
        "restoring": batch.restoring,
        "toFill": batch.filling,
        "bad": bad,
        "late": since.late,
        "lacking": _lacking_facts(since),
        "watermarks": {stream: watermark_text(at) for stream, at in sorted(batch.watermarks.items())},
    }
    return RunMessage(text + notes, facts, passing=True, short=short + notes)


def failure_message(why: str, *, again: bool = False) -> RunMessage:
    """That a batch failed; `again` for the same reason as before, of which the first line is enough then."""
    text = why.partition("\n")[0] if again else why
    facts: dict[str, object] = {"event": "trouble", "message": text}
    return RunMessage(f"a batch failed and is tried again: {text}", facts, level="warn")


def outage_message(notice: OutageNotice) -> RunMessage:
    """That the streams' system is away and what waits for it, or that it is back and what was missed."""
    if notice.phase is not OutagePhase.OVER:
        text = f"the streams' system is out of reach, and rows wait: {notice.reason}"
        return RunMessage(text, {"event": "outage", "message": text})
    text = f"the streams' system answers again after {notice.seconds:.1f} s"
    text += f"; {counted(notice.failed_batches, 'batch', 'batches')} failed meanwhile" * bool(
        notice.failed_batches
    )
    facts: dict[str, object] = {"event": "outageOver", "message": text, "seconds": round(notice.seconds, 1)}
    return RunMessage(text, facts | {"failedBatches": notice.failed_batches})


def import_message(progress: ImportProgress) -> RunMessage:
    """The progress of an import of a table."""
    rows = counted(progress.rows, "row")
    text = f"{progress.stream}: {rows} imported{'' if progress.ended else ' so far'}"
    facts: dict[str, object] = {"event": "import", "message": text, "stream": progress.stream}
    facts |= {"rows": progress.rows, "ended": progress.ended}
    return RunMessage(text, facts, passing=not progress.ended)


def refresh_message(status: RefreshStatus, *, is_imported: bool) -> RunMessage:
    """The import of a newer version of a table, or why it cannot be looked at."""
    facts: dict[str, object] = {"event": "refresh", "stream": status.stream}
    if status.trouble:
        text = (
            f"{status.stream}: the table is not refreshed, and rows see its version before: {status.trouble}"
        )
        return RunMessage(text, facts | {"message": text}, level="warn")
    text = f"{status.stream}: the table is refreshed again"
    if is_imported:
        text = f"{status.stream}: a newer version is imported, {counted(status.rows, 'row')}"
    return RunMessage(text, facts | {"message": text, "rows": status.rows})


def outboxes_message(statuses: Collection[DeliveryStatus]) -> RunMessage:
    """That outputs wait for delivery into another system, or that all are delivered again."""
    if not statuses:
        text = "outputs are delivered into all systems again"
        return RunMessage(text, {"event": "delivered", "message": text})
    text = "; ".join(map(str, statuses))
    return RunMessage(text, {"event": "outboxWaits", "message": text}, level="warn")


def waiting_message(streams: tuple[str, ...]) -> RunMessage:
    """That rows wait for the first version of side inputs, and what ends one."""
    listed = ", ".join(streams)
    text = f"waiting: no version of {listed} has ended yet, and rows that join its table wait until one has; "
    text += "with `versions: nullKey` a record without a key ends it in its partition"
    return RunMessage(text, {"event": "waiting", "message": text, "streams": list(streams)})


def open_transactions_message(transactions: Collection[OpenTransaction]) -> RunMessage:
    """That records behind open transactions cannot be read, or that all can again."""
    if not transactions:
        return _event_message(
            "transactionsEnded", "the transactions that had been open for minutes have ended"
        )
    return _partitions_message("transactionsOpen", open_transactions_text(transactions), transactions)


def silent_systems_message(systems: Collection[SilentSystem]) -> RunMessage:
    """That systems which are read do not answer, or that all do."""
    if not systems:
        return _event_message("systemsAnswer", "all systems that are read answer again")
    text = silent_systems_text(systems)
    names = [one.name for one in systems]
    return RunMessage(text, {"event": "systemsSilent", "message": text, "systems": names}, level="warn")


def unread_partitions_message(partitions: Collection[UnreadPartition]) -> RunMessage:
    """That partitions with records are not read, or that all are."""
    if not partitions:
        return _event_message("partitionsRead", "the partitions that had not been read for a minute are read")
    return _partitions_message("partitionsNotRead", unread_partitions_text(partitions), partitions)


def _event_message(event: str, text: str) -> RunMessage:
    return RunMessage(text, {"event": event, "message": text})


def _partitions_message(
    event: str, text: str, held_up: Iterable[OpenTransaction | UnreadPartition]
) -> RunMessage:
    """A warning about partitions whose records are not read."""
    names = [str(one.partition) for one in held_up]
    return RunMessage(text, {"event": event, "message": text, "partitions": names}, level="warn")


def open_windows_message(waiting: OpenWindows) -> RunMessage:
    """That a run ends with windows of an operator that were not put out, and what puts them out."""
    until, watermark = watermark_text(waiting.first_end), waiting.watermark
    reached = "there is none yet" if watermark is None else f"it is at {watermark_text(watermark)}"
    stay = f"{counted(waiting.windows, 'window stays', 'windows stay')} open"
    text = f"{waiting.operator}: {stay}; the first goes out once the watermark passes {until}, and {reached}"
    facts: dict[str, object] = {"event": "open", "operator": waiting.operator, "windows": waiting.windows}
    facts |= {"until": until, "watermark": None if watermark is None else watermark_text(watermark)}
    return RunMessage(text, facts)


def slow_message(which: str) -> RunMessage:
    """That a batch takes long, and who has it."""
    return RunMessage(which, {"event": "slow", "message": which}, level="warn")


def search_message(progress: SearchProgress) -> RunMessage:
    """That bad records are searched for, and how far the search is."""
    facts = {"event": "search", "message": progress.text, **asdict(progress)}
    return RunMessage(progress.text, facts, passing=True)


_CHANGE_LEVELS: Final[Mapping[ChangeKind, LogLevel]] = {
    ChangeKind.MODEL: "info",
    ChangeKind.LANES: "warn",
    ChangeKind.SPEC: "info",
    ChangeKind.REFUSED: "warn",
}


def change_message(change: RunChange) -> RunMessage:
    """That another model runs, that processors are missing, or that something cannot be."""
    facts: dict[str, object] = {"event": "changed", "kind": change.kind, "message": change.text}
    facts |= {"model": change.version, "moved": change.moved}
    facts["tasks"] = {name: len(tasks) for name, tasks in change.lanes.items()}
    if change.kind is ChangeKind.REFUSED:
        facts["refused"] = [
            {"reason": w.reason, "path": w.path, "message": w.message} for w in change.warnings
        ]
    return RunMessage(change.text, facts, level=_CHANGE_LEVELS[change.kind])


def idle_message(totals: RunTotals) -> RunMessage:
    """That everything has been read, and what was done for it."""
    text = f"idle: all is read, {totals.rows_in:,} rows in and {totals.rows_out:,} out so far"
    text += "".join(f", {text}" for text in _left_out_texts(totals))
    facts = {"event": "idle", "rowsIn": totals.rows_in, "rowsOut": totals.rows_out, "bad": totals.bad}
    return RunMessage(text, facts, passing=True)


def summary_message(totals: RunTotals, seconds: float) -> RunMessage:
    """The summary of what a run did."""
    rate = totals.rows_in / max(seconds, 1e-9)
    batches = counted(totals.batches, "batch", "batches")
    text = f"{totals.rows_in:,} rows in, {totals.rows_out:,} out, {batches}"
    text += f", {seconds:,.1f} s, {rate:,.0f} rows/s"
    text += f", {totals.restored:,} entries restored ({_size(totals.restored_bytes)})" * bool(totals.restored)
    text += "".join(f", {text}" for text in _left_out_texts(totals))
    facts = {
        "event": "ended",
        "rowsIn": totals.rows_in,
        "rowsOut": totals.rows_out,
        "batches": totals.batches,
        "seconds": round(seconds, 3),
        "rowsPerSecond": round(rate, 1),
        "restored": totals.restored,
        "restoredBytes": totals.restored_bytes,
        "bad": totals.bad,
        "late": totals.late,
        "lacking": _lacking_facts(totals),
        "leftOut": [
            {"stream": stream, "reason": reason, "records": number}
            for (stream, reason), number in totals.rejected.most_common()
        ],
    }
    return RunMessage(text, facts)


def _left_out_texts(totals: RunTotals) -> Iterator[str]:
    """The rows left out, and why; the bad records last, with the commonest reasons and where to see them."""
    if totals.late:
        yield counted(totals.late, "late row")
    for text in _lacking_texts(totals):
        yield f"{text} left out"
    if totals.bad:
        reasons = totals.rejected.most_common()
        named, others = reasons[:SUMMARY_REASONS], reasons[SUMMARY_REASONS:]
        texts = [f"{number:,} of {stream}: {reason}" for (stream, reason), number in named]
        rest = sum(number for _, number in others)
        texts += [f"{rest:,} for other reasons"] * bool(rest)
        reason_list = f": {'; '.join(texts)}" if texts else ""
        yield f"{counted(totals.bad, 'record')} left out{reason_list} (the app's page shows where they are)"


def _lacking_texts(totals: RunTotals) -> list[str]:
    """The numbers of rows that operators left out because of a null."""
    return [
        f"{counted(number, 'row')} of {name} without a {lack}"
        for (name, lack), number in sorted(totals.lacking.items())
    ]


def _lacking_facts(totals: RunTotals) -> list[dict[str, object]]:
    return [
        {"operator": name, "lack": lack, "rows": number}
        for (name, lack), number in sorted(totals.lacking.items())
    ]


def watermark_text(watermark: int) -> str:
    """A watermark as people read times; what no calendar holds as milliseconds."""
    try:
        return (EPOCH + timedelta(milliseconds=watermark)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return f"{watermark} ms"


def _with_count(name: str, counts: dict[str, int | None]) -> str:
    return f"{name} ({counts[name]})" if counts[name] else name


def _size(count: int) -> str:
    """So many bytes, as people read them."""
    value, unit = float(count), "B"
    for larger in ("kB", "MB", "GB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    return f"{value:,.0f} {unit}" if unit == "B" else f"{value:,.1f} {unit}"

"""Takes note of what the page of a run shows. Written by the driver's thread, read by those of viewers."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

from streamapp.placement.placement_reason import PlacementReason
from streamapp.protocol.driver_report import ReportedWarning
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.batches.run_change import ChangeKind, RunChange
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus, by_system
from streamapp_runtime.driver.failures import may_hold_values
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.page.run_facts import (
    BatchFacts,
    LeftOutRecords,
    RemoteCounts,
    RunFacts,
    RunNote,
    RunObstacles,
)
from streamapp_runtime.driver.page.run_rates import RunRates
from streamapp_runtime.driver.page.running_app import RunningApp, running_app
from streamapp_runtime.driver.reporting.newest_levels import NewestLevels
from streamapp_runtime.driver.reporting.run_messages import outage_message
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.status_rules import is_fine
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.traffic import ROWS_OUT
from streamapp_runtime.operators.state.lane_state import LATE_ROWS_COUNTER
from streamapp_runtime.redacted_output import redacted
from streamapp_runtime.systems.answering_systems import SilentSystem

MOST_BATCHES: Final = 20
MOST_NOTES: Final = 50
LONGEST_NOTE: Final = 2_000
"""So many characters of a text are remembered."""
HIDDEN: Final = "a batch failed and is tried again; the driver's log says why, which may repeat values"
_REMOTE: Final = ("remoteAsked", "remoteCached", "remoteUnanswered")


@dataclass(slots=True)
class PageRecorder(RunObserver):
    """The events that listeners of a run are told, as far as its page shows them. Its memory is bounded."""

    clock: Callable[[], float]  # seconds
    now: Callable[[], float]  # seconds since 1970, which may jump
    show_values: bool = False
    _lock: Lock = field(default_factory=Lock)
    _started: float = field(init=False)
    _app: RunningApp | None = None
    _activity: tuple[str, float] = ("starts", 0.0)  # and since when
    _step: str = ""  # of the loop, as it was told last
    _last: BatchResult | None = None
    _incarnation: int = 0
    _reports: dict[str, TaskReport] = field(default_factory=dict)  # a batch may be of some lanes alone
    _batches: deque[BatchFacts] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    _rates: RunRates = field(init=False)
    _watermarks: dict[str, tuple[int, float]] = field(default_factory=dict)  # by stream, and since when
    _left_out: LeftOutRecords = field(default_factory=LeftOutRecords)
    _remote: dict[str, Counter[str]] = field(default_factory=dict)
    _state: NewestLevels = field(default_factory=NewestLevels)
    _obstacles: RunObstacles = field(default_factory=RunObstacles)
    _notes: deque[RunNote] = field(default_factory=lambda: deque(maxlen=MOST_NOTES))
    _refused: tuple[ReportedWarning, ...] = ()

    def __post_init__(self) -> None:
        self._started, self._rates = self.now(), RunRates(self.clock())
        self._activity = ("starts", self._started)

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        self.runs(running_app(launch, launch.lanes, launch.reasons, self._state.tables))

    def runs(self, app: RunningApp) -> None:
        """Note what runs from now on: no task of it has done anything yet."""
        with self._lock:
            self._app = app
            self._state.run_by(app.lanes)
            self._begin_model()

    def changed(self, change: RunChange) -> None:
        """Note who runs what from now on, and what cannot be."""
        is_placed = change.kind in {ChangeKind.MODEL, ChangeKind.LANES}
        reasons = change.reasons if is_placed or self._app is None else self._app.reasons
        app = running_app(change.launch, change.lanes, reasons, self._state.tables)
        with self._lock:
            self._app = app
            self._state.run_by(change.lanes)
            if change.kind is ChangeKind.MODEL:
                self._begin_model()
            if change.kind is ChangeKind.REFUSED:
                self._refused = tuple(warning.redacted(redacted) for warning in change.warnings)
            self._note(
                change.kind, change.text, change.moved, _reasons_of_moves(reasons) if change.moved else ()
            )
        if change.kind is ChangeKind.LANES:
            self.lacks(change.missing)

    def lacks(self, processors: Iterable[str]) -> None:
        """Note which processors are missing: their tasks wait for them."""
        self._see(missing=frozenset(processors))

    def batch_committed(self, batch: BatchResult) -> None:
        """Take note of a batch."""
        now = self.now()
        with self._lock:
            self._note_watermarks(batch.watermarks, now)
            self._last, self._incarnation = batch, batch.incarnation
            self._reports.update((report.task, report) for report in batch.reports)
            awaited = () if batch.rows_in else self._obstacles.awaited
            self._obstacles = replace(self._obstacles, slow="", awaited=awaited)
            self._rates.count(batch, self._app.intermediate_streams if self._app else ())
            self._state.note(batch.reports)
            late = self._count(report for report in batch.reports if is_fine(report.status))
            self._left_out = self._left_out.after(batch, late)
            facts = BatchFacts(
                batch.number,
                now,
                batch.seconds,
                batch.rows_in,
                batch.rows_out,
                tuple(batch.longest_steps().items()),
            )
            self._batches.append(facts)
        self._sample()

    def idle(self) -> None:
        """Nothing is to be read: time passes all the same."""
        self._sample()

    def step_started(self, text: str, _: float | None) -> None:
        """Note a step of the loop."""
        if text != self._step:
            self._step, self._activity = text, (redacted(text), self.now())

    def batch_failed(self, why: str) -> None:
        """Note that a batch failed, and why where that repeats no value."""
        with self._lock:
            self._note("failure", why if self.show_values or not may_hold_values(why) else HIDDEN)

    def outage(self, notice: OutageNotice) -> None:
        """Note that the streams' system is unavailable, or is back."""
        if notice.phase is not OutagePhase.GOES_ON:
            with self._lock:
                self._note("failure", redacted(outage_message(notice).text))

    def side_inputs_awaited(self, streams: tuple[str, ...]) -> None:
        """Note for which side inputs rows wait."""
        self._see(awaited=streams)

    def transactions_open(self, transactions: tuple[OpenTransaction, ...]) -> None:
        """Note which transactions have been open for long."""
        self._see(open_transactions=transactions)

    def partitions_unread(self, partitions: tuple[UnreadPartition, ...]) -> None:
        """Note which partitions have records and have been passed over for long."""
        self._see(unread=partitions)

    def systems_unavailable(self, systems: tuple[SilentSystem, ...]) -> None:
        """Note which systems that are read do not answer."""
        self._see(silent=systems)

    def deliveries_progressed(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """Note what is delivered into other systems, and what waits."""
        self._see(deliveries=by_system(statuses))

    def batch_slow(self, which: str) -> None:
        """Note that a batch takes long, while it does."""
        self._see(slow=redacted(which)[:LONGEST_NOTE])

    def facts(self) -> RunFacts:
        """All that is known now."""
        now = self.now()
        with self._lock:
            rates_in, rates_out = self._rates.of_streams()
            return RunFacts(
                now=now,
                started=self._started,
                show_values=self.show_values,
                app=self._app,
                activity=self._activity[0],
                active_since=self._activity[1],
                last=self._last,
                incarnation=self._incarnation,
                reports=dict(self._reports),
                rates_in=rates_in,
                rates_out=rates_out,
                task_rates=self._rates.of_tasks(),
                watermarks_moved={stream: moved_at for stream, (_, moved_at) in self._watermarks.items()},
                history=self._rates.history.points,
                batches=tuple(self._batches),
                left_out=self._left_out,
                remote={
                    table: RemoteCounts(*(counts[counter] for counter in _REMOTE))
                    for table, counts in self._remote.items()
                },
                obstacles=self._obstacles,
                notes=tuple(self._notes),
                refused=self._refused,
            )

    def _see(self, **obstacles: Any) -> None:
        with self._lock:
            self._obstacles = replace(self._obstacles, **obstacles)

    def _begin_model(self) -> None:
        """Forget what is known of tasks: others may have their names."""
        self._rates.begin_model(self._app.plan.streams if self._app else ())
        self._last, self._obstacles = None, replace(self._obstacles, missing=frozenset())
        self._watermarks.clear()
        self._reports.clear()

    def _note_watermarks(self, watermarks: Mapping[str, int], now: float) -> None:
        for stream, watermark in watermarks.items():
            if stream not in self._watermarks or self._watermarks[stream][0] != watermark:
                self._watermarks[stream] = watermark, now

    def _count(self, reports: Iterable[TaskReport]) -> Counter[str]:
        """Count what tasks report; their late rows, by operator."""
        late = Counter[str]()
        for report in reports:
            self._rates.read_by_task[report.task] += report.rows_in
            for counter, name, number in report.counted:
                if counter == ROWS_OUT:
                    self._rates.written[name] += number
                elif counter == LATE_ROWS_COUNTER:
                    late[name] += number
                elif counter in _REMOTE:
                    self._remote.setdefault(name, Counter())[counter] += number
        return late

    def _sample(self) -> None:
        with self._lock:
            worker_memory = sum(self._state.memory().values())
            self._rates.sample(self.clock(), self.now(), self._last, worker_memory)

    def _note(self, kind: str, text: str, moved: int = 0, reasons: tuple[tuple[str, int], ...] = ()) -> None:
        """Remember something that happened; the same once more takes the place of the one before."""
        note = RunNote(self.now(), kind, redacted(text)[:LONGEST_NOTE], moved, reasons)
        if self._notes and (self._notes[-1].kind, self._notes[-1].text) == (note.kind, note.text):
            self._notes.pop()
        self._notes.append(note)


def _reasons_of_moves(reasons: Mapping[str, PlacementReason]) -> tuple[tuple[str, int], ...]:
    """Why tasks are not where they were, and how many for each reason, the most frequent first."""
    others = (reason for reason in reasons.values() if reason.kind not in {"stayed", "new"})
    return tuple(Counter(map(str, others)).most_common())

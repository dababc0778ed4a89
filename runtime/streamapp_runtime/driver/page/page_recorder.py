"""Takes note of what the page of a run shows. Written by the driver's thread, read by those of viewers."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from streamapp.placement.placement_reason import PlacementReason
from streamapp.protocol.driver_report import ReportedWarning
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.batches.run_change import ChangeKind, RunChange
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.failures import may_hold_values
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.page.run_facts import (
    BatchFacts,
    RemoteCounts,
    RunFacts,
    RunNote,
)
from streamapp_runtime.driver.page.run_history import (
    POINT_SECONDS,
    HistoryPoint,
    RunHistory,
    StreamSamples,
)
from streamapp_runtime.driver.page.running_app import RunningApp, running_app
from streamapp_runtime.driver.reporting.run_messages import outage_message
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.reporting.state_sizes import StateSizes
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.status_rules import is_fine
from streamapp_runtime.lanes.protocol.rejections import RejectionSample, merged_reasons
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.traffic import ROWS_OUT
from streamapp_runtime.operators.state.lane_state import LATE_ROWS_COUNTER
from streamapp_runtime.redacted_output import redacted

MOST_BATCHES: Final = 20
MOST_NOTES: Final = 50
MOST_SAMPLES: Final = 20
"""Of records that were left out."""
RATE_POINTS: Final = 5
"""Rates of streams are those of the last so many points: a single batch is too short for them."""
LONGEST_NOTE: Final = 2_000
"""So many characters of a text are remembered."""
HIDDEN: Final = "a batch failed and is tried again; the driver's log says why, which may repeat values"
_REMOTE: Final = ("remoteAsked", "remoteCached", "remoteUnanswered")


@dataclass(frozen=True, slots=True)
class _Totals:
    """Records read and written so far, by stream, and rows read by task."""

    at: float
    read: Mapping[str, int]
    written: Mapping[str, int]
    by_task: Mapping[str, int]


@dataclass(slots=True)
class PageRecorder(RunObserver):
    """The events that listeners of a run are told, as far as its page shows them. Its memory is bounded."""

    clock: Callable[[], float]  # seconds
    now: Callable[[], float]  # seconds since 1970, which may jump
    show_values: bool = False
    _lock: Lock = field(default_factory=Lock)
    _started: float = field(init=False)
    _app: RunningApp | None = None
    _places: Mapping[str, int] = field(default_factory=dict)  # of the streams of the app in the history
    _activity: tuple[str, float] = ("starts", 0.0)  # and since when
    _step: str = ""  # of the loop, as it was told last
    _last: BatchResult | None = None
    _incarnation: int = 0
    _reports: dict[str, TaskReport] = field(default_factory=dict)  # a batch may be of some lanes alone
    _missing: frozenset[str] = frozenset()
    _history: RunHistory = field(default_factory=RunHistory)
    _batches: deque[BatchFacts] = field(default_factory=lambda: deque(maxlen=MOST_BATCHES))
    _read: Counter[str] = field(default_factory=Counter)
    _written: Counter[str] = field(default_factory=Counter)
    _read_by_task: Counter[str] = field(default_factory=Counter)
    _watermarks: dict[str, tuple[int, float]] = field(default_factory=dict)  # by stream, and since when
    _totals: deque[_Totals] = field(default_factory=lambda: deque(maxlen=RATE_POINTS + 1))
    _rows_in: int = 0  # since the last point, as are the next three
    _rows_out: int = 0
    _batch_count: int = 0
    _batch_seconds: float = 0.0
    _point_at: float = field(init=False)
    _bad: int = 0
    _late: Counter[str] = field(default_factory=Counter)
    _rejected: Counter[tuple[str, str]] = field(default_factory=Counter)
    _samples: deque[RejectionSample] = field(default_factory=lambda: deque(maxlen=MOST_SAMPLES))
    _remote: dict[str, Counter[str]] = field(default_factory=dict)
    _state: StateSizes = field(default_factory=StateSizes)
    _awaited: tuple[str, ...] = ()
    _open_transactions: tuple[OpenTransaction, ...] = ()
    _unread: tuple[UnreadPartition, ...] = ()
    _slow: str = ""
    _outboxes: tuple[DeliveryStatus, ...] = ()
    _notes: deque[RunNote] = field(default_factory=lambda: deque(maxlen=MOST_NOTES))
    _refused: tuple[ReportedWarning, ...] = ()

    def __post_init__(self) -> None:
        self._started, self._point_at = self.now(), self.clock()
        self._activity = ("starts", self._started)
        self._totals.append(_Totals(self._point_at, {}, {}, {}))

    def launched(self, launch: Launch) -> None:
        """Note what runs."""
        self._state.run_by(launch.lanes)
        self.runs(running_app(launch, launch.lanes, launch.reasons, self._state.tables))

    def runs(self, app: RunningApp) -> None:
        """Note what runs from now on: no task of it has done anything yet."""
        with self._lock:
            self._app = app
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
        with self._lock:
            self._missing = frozenset(processors)

    def batch(self, batch: BatchResult) -> None:
        """Take note of a batch."""
        now = self.now()
        with self._lock:
            self._note_watermarks(batch.watermarks, now)
            self._last, self._incarnation, self._slow = batch, batch.incarnation, ""
            self._reports.update((report.task, report) for report in batch.reports)
            self._awaited = () if batch.rows_in else self._awaited
            rows_in, rows_out = batch.rows_of_users(self._app.intermediate_streams if self._app else ())
            self._rows_in += rows_in
            self._rows_out += rows_out
            self._batch_count += 1
            self._batch_seconds += batch.seconds
            self._bad += batch.bad
            self._rejected = merged_reasons(self._rejected, batch.rejected)
            self._samples.extend(batch.samples)
            self._read.update(batch.read)
            self._state.note(batch.reports)
            self._count(report for report in batch.reports if is_fine(report.status))
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

    def doing(self, text: str, _: float | None) -> None:
        """Note a step of the loop."""
        if text != self._step:
            self._step, self._activity = text, (redacted(text), self.now())

    def trouble(self, why: str) -> None:
        """Note that a batch failed, and why where that repeats no value."""
        with self._lock:
            self._note("failure", why if self.show_values or not may_hold_values(why) else HIDDEN)

    def outage(self, notice: OutageNotice) -> None:
        """Note that the streams' system is unavailable, or is back."""
        if notice.phase is not OutagePhase.GOES_ON:
            with self._lock:
                self._note("failure", redacted(outage_message(notice).text))

    def unended(self, streams: tuple[str, ...]) -> None:
        """Note for which side inputs rows wait."""
        self._awaited = streams

    def held_up(self, transactions: tuple[OpenTransaction, ...]) -> None:
        """Note which transactions have been open for long."""
        self._open_transactions = transactions

    def unread(self, partitions: tuple[UnreadPartition, ...]) -> None:
        """Note which partitions have records and have been passed over for long."""
        self._unread = partitions

    def outboxes(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """Keep which deliveries into other systems fail or are full."""
        self._outboxes = statuses

    def slow(self, which: str) -> None:
        """Note that a batch takes long, while it does."""
        self._slow = redacted(which)[:LONGEST_NOTE]

    def facts(self) -> RunFacts:
        """All that is known now."""
        now = self.now()
        with self._lock:
            oldest, newest, seconds = self._recent_totals()
            rates_in, rates_out = self._stream_rates()
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
                missing=self._missing,
                rates_in=rates_in,
                rates_out=rates_out,
                task_rates=_rates(oldest.by_task, newest.by_task, seconds),
                watermarks_moved={stream: moved_at for stream, (_, moved_at) in self._watermarks.items()},
                history=self._history.points,
                batches=tuple(self._batches),
                bad=self._bad,
                late=dict(self._late),
                rejected=dict(self._rejected),
                samples=tuple(self._samples),
                remote={
                    table: RemoteCounts(*(counts[counter] for counter in _REMOTE))
                    for table, counts in self._remote.items()
                },
                awaited=self._awaited,
                open_transactions=self._open_transactions,
                unread=self._unread,
                slow=self._slow,
                outboxes=self._outboxes,
                notes=tuple(self._notes),
                refused=self._refused,
            )

    def _recent_totals(self) -> tuple[_Totals, _Totals, float]:
        """The oldest and the newest totals between which rates are, and the seconds between them."""
        oldest, newest = self._totals[0], self._totals[-1]
        return oldest, newest, max(newest.at - oldest.at, 1e-9)

    def _stream_rates(self) -> tuple[dict[str, float], dict[str, float]]:
        """Records read and written a second, by stream."""
        oldest, newest, seconds = self._recent_totals()
        return _rates(oldest.read, newest.read, seconds), _rates(oldest.written, newest.written, seconds)

    def _begin_model(self) -> None:
        """Forget what is known of tasks: others may have their names."""
        self._places = {name: place for place, name in enumerate(self._app.plan.streams)} if self._app else {}
        self._last, self._missing = None, frozenset()
        self._watermarks.clear()
        self._reports.clear()
        self._read_by_task.clear()
        self._totals = deque((replace(one, by_task={}) for one in self._totals), self._totals.maxlen)

    def _note_watermarks(self, watermarks: Mapping[str, int], now: float) -> None:
        for stream, watermark in watermarks.items():
            if stream not in self._watermarks or self._watermarks[stream][0] != watermark:
                self._watermarks[stream] = watermark, now

    def _count(self, reports: Iterable[TaskReport]) -> None:
        for report in reports:
            self._read_by_task[report.task] += report.rows_in
            for counter, name, number in report.counted:
                if counter == ROWS_OUT:
                    self._written[name] += number
                elif counter == LATE_ROWS_COUNTER:
                    self._late[name] += number
                elif counter in _REMOTE:
                    self._remote.setdefault(name, Counter())[counter] += number

    def _sample(self) -> None:
        """Add a point to the history, where the last one is old enough."""
        at = self.clock()
        seconds = at - self._point_at
        if seconds < POINT_SECONDS:
            return
        with self._lock:
            mean = self._batch_seconds / self._batch_count if self._batch_count else None
            lag = self._last.lag if self._last else 0
            rates = self._rows_in / seconds, self._rows_out / seconds
            self._totals.append(_Totals(at, dict(self._read), dict(self._written), dict(self._read_by_task)))
            lags = self._last.lags if self._last else {}
            figures = StreamSamples.of(self._places, *self._stream_rates(), lags)
            lowest = min(self._last.watermarks.values(), default=None) if self._last else None
            behind = None if lowest is None else self.now() - lowest / 1000
            self._history.add(HistoryPoint(self.now(), *rates, lag, mean, figures, behind))
            self._rows_in = self._rows_out = self._batch_count = 0
            self._batch_seconds = 0.0
            self._point_at = at

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


def _rates(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> dict[str, float]:
    return {stream: (number - before.get(stream, 0)) / seconds for stream, number in after.items()}

"""The messages of a run, and their times: its plan, its progress from time to time, and its summary."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp_runtime.driver.bad_records.search_watch import SearchProgress
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.retries import OutageNotice, OutagePhase
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.imports.table_refreshes import RefreshStatus
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.reporting.open_windows import OpenWindows
from streamapp_runtime.driver.reporting.recent_progress import ProgressPoint, RecentProgress
from streamapp_runtime.driver.reporting.run_messages import (
    RunMessage,
    RunTotals,
    batch_message,
    change_message,
    failure_message,
    idle_message,
    import_message,
    open_transactions_message,
    open_windows_message,
    outage_message,
    outboxes_message,
    plan_message,
    refresh_message,
    search_message,
    silent_systems_message,
    slow_message,
    summary_message,
    unread_partitions_message,
    waiting_message,
)
from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.systems.answering_systems import SilentSystem

SOON, LATER = 1.0, 10.0
"""Seconds between two lines: at the beginning there is something to see, later there are many of them."""
FIRST_LINES = 10


@dataclass(slots=True)
class ProgressLog(RunObserver):
    """Gathers batches and says a word whenever a period is over."""

    say: Callable[[RunMessage], None]
    clock: Callable[[], float]  # seconds
    soon: float = SOON
    later: float = LATER
    bounded: bool = False  # the run ends when everything that is there has been read
    totals: RunTotals = field(default_factory=RunTotals)
    _recent: RecentProgress = field(default_factory=RecentProgress)
    _logged_totals: RunTotals = field(default_factory=RunTotals)  # what the last word was about
    _intermediate: frozenset[str] = frozenset()  # made by the app
    _idle: bool = False  # and told to be so
    _unended: tuple[str, ...] = ()  # what rows wait for
    _last_failure: str = ""
    _refreshed: tuple[RefreshStatus, ...] = ()
    _lines: int = 0
    _begun: float = 0.0
    _last: float = 0.0

    def begin(self) -> None:
        """From here on time counts."""
        self._begun = self._last = self.clock()

    def import_progressed(self, progress: ImportProgress) -> None:
        """Say from time to time how far the import of a table is, and how it ended."""
        self._last = self._last or self.clock()
        if progress.ended or self._due(self.clock() - self._last):
            self._say(import_message(progress))

    def tables_refreshed(self, statuses: tuple[RefreshStatus, ...]) -> None:
        """Say which table was imported anew, and once why one cannot be."""
        before = {status.stream: status for status in self._refreshed}
        self._refreshed = statuses
        for status in statuses:
            last = before.get(status.stream, RefreshStatus(status.stream))
            if status.trouble != last.trouble or status.versions != last.versions:
                self.say(refresh_message(status, is_imported=status.versions != last.versions))

    def launched(self, launch: Launch) -> None:
        """Say what is about to run."""
        self.begin()
        self._intermediate = launch.intermediate_streams()
        self.say(plan_message(launch))

    def batch_committed(self, batch: BatchResult) -> None:
        """Take note of a batch, and say a word if it is time."""
        self.totals = self.totals.with_batch(batch, self._intermediate)
        self._idle = self._idle and not batch.rows_in
        now = self.clock()
        lag = None if batch.filling or batch.restoring else batch.lag
        self._recent.note(ProgressPoint(now, self.totals.rows_in, self.totals.rows_out, lag))
        seconds = now - self._last
        if not self._idle and self._due(seconds):
            since = self.totals.since(self._logged_totals)
            self._say(
                batch_message(batch, since, self.totals.bad, seconds, self._recent, bounded=self.bounded)
            )

    def idle(self) -> None:
        """Say once that there is nothing to do, when it is time to say anything."""
        if not self._idle and self._due(self.clock() - self._last):
            self._idle = True
            self._say(idle_message(self.totals))

    def batch_failed(self, why: str) -> None:
        """Say why a batch failed; with what belongs to it, such as frames of the app's code, only once."""
        self.say(failure_message(why, again=why == self._last_failure))
        self._last_failure = why

    def outage(self, notice: OutageNotice) -> None:
        """Say once that the streams' system is unavailable, and once that it is back."""
        if notice.phase is not OutagePhase.GOES_ON:
            self.say(outage_message(notice))

    def side_inputs_awaited(self, streams: tuple[str, ...]) -> None:
        """Say once for which side inputs rows wait."""
        if streams and streams != self._unended:
            self.say(waiting_message(streams))
        self._unended = streams

    def transactions_open(self, transactions: tuple[OpenTransaction, ...]) -> None:
        """Say which transactions rows wait for the end of, or that they wait for none any more."""
        self.say(open_transactions_message(transactions))

    def systems_unavailable(self, systems: tuple[SilentSystem, ...]) -> None:
        """Say which systems that are read do not answer, or that all do again."""
        self.say(silent_systems_message(systems))

    def deliveries_hindered(self, statuses: tuple[DeliveryStatus, ...]) -> None:
        """Say that outputs wait for delivery, or that they do no more."""
        self.say(outboxes_message(statuses))

    def partitions_unread(self, partitions: tuple[UnreadPartition, ...]) -> None:
        """Say which partitions are passed over, or that all are read again."""
        self.say(unread_partitions_message(partitions))

    def windows_left_open(self, waiting: tuple[OpenWindows, ...]) -> None:
        """Say which windows the run leaves open, and what they wait for."""
        for each in waiting:
            self.say(open_windows_message(each))

    def batch_slow(self, which: str) -> None:
        """Say that a batch takes long, while it does."""
        self.say(slow_message(which))

    def search_progressed(self, progress: SearchProgress) -> None:
        """Say how far a search for bad records is."""
        self.say(search_message(progress))

    def changed(self, change: RunChange) -> None:
        """Say who runs what from now on, or why not."""
        self._idle = False
        self._intermediate = change.launch.intermediate_streams()
        self.say(change_message(change))

    def ended(self) -> None:
        """Say what the whole run did."""
        self.say(summary_message(self.totals, self.clock() - self._begun))

    def _due(self, seconds: float) -> bool:
        return seconds >= (self.soon if self._lines < FIRST_LINES else self.later)

    def _say(self, word: RunMessage) -> None:
        self.say(word)
        self._logged_totals, self._last, self._lines = self.totals, self.clock(), self._lines + 1

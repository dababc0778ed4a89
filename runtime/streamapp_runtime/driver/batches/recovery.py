"""Recovery after a failure: lanes are given up alone, or everything starts again from the checkpoints.

What a failure is, is a function of reports or of an error. What follows is counted here, and ends the run
where there have been too many failures, or an outage lasts for too long.
"""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.batches.backlog import Backlog
from streamapp_runtime.driver.batches.batch_runner import FinishedOrders
from streamapp_runtime.driver.batches.hosted_lanes import HostedLanes
from streamapp_runtime.driver.batches.retries import (
    MemoryKills,
    OutageNotes,
    RemoteTableBackoff,
    Retries,
)
from streamapp_runtime.driver.status_rules import Reaction, is_of_lane_alone, reaction_to
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.systems.stream_system import is_outage


@dataclass(frozen=True, slots=True)
class BatchFailure:
    """A failure, and what it leaves uncertain."""

    reason: str
    is_outage: bool = False
    fence: bool = True  # whether lanes may still be writing
    rows: bool = False  # whether the batch had records
    lanes: frozenset[str] = frozenset()  # that failed, where it is known which
    lost: frozenset[str] = frozenset()  # that are lost alone, so that others go on without them
    of_lanes_alone: bool = False  # whether others can go on as they are


def reported_failure(
    reports: Iterable[TaskReport],
    *,
    lanes: frozenset[str] = frozenset(),
    rows: bool = False,
    others_busy: bool = False,
) -> BatchFailure | None:
    """The failure that these lanes report of a batch; None where none of their tasks failed.

    A lane that found itself in another's place did nothing: where all have said what they did, none writes
    any more.
    """
    reactions = [(reaction_to(report.status), report) for report in reports]
    failed = [pair for pair in reactions if pair[0] not in {Reaction.CONTINUE, Reaction.WAIT}]
    if not failed:
        return None
    return BatchFailure(
        "; ".join(sorted({f"{report.status}: {report.message}" for _, report in failed})),
        is_outage=all(reaction is Reaction.OUTLAST for reaction, _ in failed),
        fence=others_busy or any(reaction is not Reaction.BIND_AGAIN for reaction, _ in failed),
        rows=rows,
        lanes=lanes,
        of_lanes_alone=all(is_of_lane_alone(report.status) for _, report in failed),
    )


def raised_failure(
    error: Exception, lost: Collection[str] = (), *, out_of_memory: bool = False
) -> BatchFailure:
    """The failure that an error stands for; no lane is lost alone by a batch whose time was over."""
    reason = failures.failure_reason(error, out_of_memory=out_of_memory)
    alone = frozenset() if isinstance(error, failures.BatchTimeoutError) else frozenset(lost)
    return BatchFailure(reason, is_outage(error), lost=alone)


@dataclass(slots=True)
class Recovery:
    """The failures of a run so far, and what is done about each."""

    lanes: HostedLanes
    backlog: Backlog
    bad_records: BadRecordSearch
    trouble: Callable[[str], None]  # called with the reason when a batch failed
    outages: OutageNotes  # told instead, while the streams' system is away
    retries: Retries = field(default_factory=lambda: Retries(time.monotonic))
    backoff: RemoteTableBackoff = field(default_factory=lambda: RemoteTableBackoff(time.monotonic))
    memory_kills: MemoryKills = field(default_factory=MemoryKills)

    @property
    def awaited(self) -> str:
        """The message on what is waited for outside of the app; empty where nothing is."""
        if self.retries.outage.since is not None:
            return f"waits for the streams' system: {self.retries.outage.reason}"
        return f"waits for a remote table: {self.backoff.reason}" if self.backoff.tasks else ""

    def looked(self) -> None:
        """Note that the streams' system answered the driver."""
        if self.retries.outage.since is None:
            self.outages.looked()

    def note(self, finished: FinishedOrders, *, release: bool = False) -> None:
        """See to what was not committed."""
        reports, rows = finished.reports, bool(finished.reading_tasks)
        waiting = {r.task: r.message for r in reports if reaction_to(r.status) is Reaction.WAIT}
        if self.backoff.note(waiting, finished.reading_tasks):
            self.trouble(self.backoff.reason)
        busy = bool(self.lanes.runner.lanes)
        failure = reported_failure(reports, lanes=finished.lanes, rows=rows, others_busy=busy)
        supervisor = self.lanes.supervisor
        if failure is None:
            # Without rows, by others, or by rows that wait, nothing is proved of what failed on rows.
            proven = not waiting and self.bad_records.note_success(finished.pending)
            self._note_success(finished.lanes, rows=rows, proven=proven)
        elif failure.of_lanes_alone and not release and supervisor.can_dismiss(finished.lanes):
            self.trouble(failure.reason)
            supervisor.dismiss(finished.lanes)
            self.backlog.side_inputs.follow(supervisor.lanes)
        else:
            self.fail(failure)

    def recover(self, error: Exception, lost: Collection[str] = ()) -> None:
        """Start again after what happened to a batch; where only some lanes are lost, without them.

        What a watch says of it goes before.
        """
        try:
            self.lanes.abandon(error)
        except failures.RETRIABLE as reason:
            error = reason
        self.fail(raised_failure(error, lost, out_of_memory=self.memory_kills.recent))

    def fail(self, failure: BatchFailure) -> None:
        """Have everything started again before the next batch, or without the lanes that are lost."""
        self.lanes.abandon()
        supervisor = self.lanes.supervisor
        if failure.is_outage:
            self.outages.failed(failure.reason)
        else:
            self.trouble(failure.reason)
        self.bad_records.note_failure()
        failing_lanes = failure.lanes or failure.lost or supervisor.lanes
        if failure.lost:
            supervisor.lose(failure.lost)
        else:
            supervisor.fail(fence=failure.fence)
        self.retries.note_failure(failure.reason, failing_lanes, outage=failure.is_outage, rows=failure.rows)
        if end_reason := self.lanes.end_reason:
            raise failures.FailedError(f"{end_reason}: {failure.reason}")

    def _note_success(self, lanes: frozenset[str], *, rows: bool, proven: bool) -> None:
        """Note that lanes did what they were to do, be it with rows."""
        supervisor = self.lanes.supervisor
        present = supervisor.lanes.keys()
        if self.retries.note_success(lanes, present, rows=rows, proven=proven):
            self.memory_kills.recent = False
        if self.retries.outage.since is None:
            self.outages.succeeded(lanes, present)
        if rows:
            supervisor.note_success(lanes)

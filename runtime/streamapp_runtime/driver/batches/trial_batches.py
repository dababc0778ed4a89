"""Trials of bad records: batches of which nothing is committed, once a batch has failed again."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver import failures
from streamapp_runtime.driver.bad_records.bisection import TrialFailure
from streamapp_runtime.driver.bad_records.search_watch import SearchStoppedError, SearchTimeoutError
from streamapp_runtime.driver.batches.batch_runner import LockStep, OrderedBatch
from streamapp_runtime.driver.batches.lane_batches import LaneBatches
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.driver.status_rules import CAUSES
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.compilation.row_operations import ComputeColumns, EvaluateRows, FilterRows
from streamapp_runtime.systems.stream_system import OutOfRangeError, UnavailableError, UnknownStreamError

TRIAL_SECONDS: Final = 30.0
"""A part of a batch that is tried may take so long at least, and ten times as long as any batch before."""

RecordId = tuple[str, int, int]
"""Stream, partition and offset."""
_NAMES_FAILED_ROWS: Final = (ComputeColumns, EvaluateRows, FilterRows, Totals)
"""The operations that name the rows on which they fail."""


@dataclass(frozen=True, slots=True)
class TrialBatches:
    """Trials on the lanes of a run."""

    batches: LaneBatches

    def search(self) -> bool:
        """Look for records that are to blame, and say whether the run goes on.

        Where none is found, the failures before count on; FailedError where there was no time for it.
        """
        retries = self.batches.recovery.retries
        failures_before = retries.failures
        self.batches.await_lanes()
        try:
            for _ in self.batches.bad_records.search(self._records_that_fail, self._trial_failure):
                failures_before = 0
        except SearchStoppedError:
            return False
        except SearchTimeoutError as error:
            if failures_before:
                raise failures.FailedError(
                    f"a batch fails, and no record to blame was found: {error}"
                ) from None
        finally:
            retries.failures = failures_before
        return True

    def trial(
        self, ranges: Sequence[PendingRange], exchange: BatchExchange
    ) -> tuple[TaskReport, ...] | TrialFailure:
        """The reports of lanes on a batch of which nothing is committed; its failure, where it fails."""
        batches, lanes = self.batches, self.batches.planner.lanes
        timeout = lanes.run.settings.batch_timeout
        seconds = lanes.seconds_left(timeout and min(timeout, max(TRIAL_SECONDS, 10 * batches.longest)))
        orders = batches.orders(ranges, trial=True)
        batches.note_step(f"searches for bad records in batch {orders.batch}", seconds)
        try:
            (finished,) = LockStep(exchange, lanes.watch).run(OrderedBatch(orders, ranges, seconds=seconds))
        except failures.BatchTimeoutError as error:
            if lanes.end_by is not None and time.monotonic() >= lanes.end_by:
                raise  # which says nothing of the records
            failure = TrialFailure(str(error), RejectionCause.CODE, doubtful=True)
        except (PySparkException, Py4JError) as error:
            is_out_of_memory = batches.recovery.memory_kills.recent
            reason = failures.failure_reason(error, out_of_memory=is_out_of_memory)
            if failures.is_process_loss(error) and not lanes.end_reason:
                failure = TrialFailure(reason, RejectionCause.CODE, doubtful=True)
            elif isinstance(error, PySparkException):
                failure = TrialFailure(reason)
            else:
                raise
        else:
            batches.note_step()
            return finished.reports
        lanes.supervisor.fail(fence=True)
        return failure

    def _records_that_fail(self, ranges: Sequence[PendingRange]) -> Mapping[RecordId, str]:
        """The records on which expressions fail, found in one trial; none where something else fails."""
        self.batches.restore_lanes()
        supervisor = self.batches.planner.lanes.supervisor
        tasks = supervisor.executors.program.tasks
        if not any(isinstance(task.operation, _NAMES_FAILED_ROWS) for task in tasks):
            return {}
        reports = self.trial(ranges, supervisor.exchange)
        if isinstance(reports, TrialFailure):
            return {}
        return {one[:3]: one[3] for report in reports for one in report.failed_records}

    def _trial_failure(self, ranges: Sequence[PendingRange]) -> TrialFailure | None:
        """The failure of a batch; None where it does not fail. Nothing of the batch is committed."""
        self.batches.restore_lanes()
        reports = self.trial(ranges, self.batches.planner.lanes.supervisor.exchange)
        if isinstance(reports, TrialFailure):
            return reports
        report = failures.failed_report(reports)
        if report is None:
            return None
        return TrialFailure(report.message, CAUSES.get(report.status, RejectionCause.RECORD))


def record_key(launch: Launch, record: RecordId) -> bytes | None:
    """A record's key; None where it has none, or is gone."""
    stream, index, offset = record
    try:
        batches = launch.context.systems.read(Partition(stream, index), offset, offset + 1)
        keys = [key for batch in batches for key in batch.column("key").to_pylist()]
    except (OutOfRangeError, UnavailableError, UnknownStreamError):
        return None
    return keys[0] if keys else None

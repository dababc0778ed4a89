"""The result of one batch, for whoever counts or shows batches."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.status_rules import is_fine
from streamapp_runtime.lanes.event_time.reached_watermarks import ReachedWatermarks
from streamapp_runtime.lanes.protocol.rejections import RejectionSample, merged_reasons
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.traffic import RESTORED_BYTES, ROWS_IN, ROWS_OUT
from streamapp_runtime.operators.state.lane_state import (
    LATE_ROWS_COUNTER,
    NULL_KEYS_COUNTER,
    NULL_TIMES_COUNTER,
)
from streamapp_runtime.operators.stateless.stream_operations import declared_stream

MOST_SAMPLES_OF_BATCH: Final = 20
"""So many records of all tasks are shown of those that are left out in a batch."""

LACKS: Final = {NULL_KEYS_COUNTER: "key", NULL_TIMES_COUNTER: "time"}
"""What rows lack that operators count and leave out."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of one batch."""

    number: int
    incarnation: int
    seconds: float
    rows_in: int
    rows_out: int
    bad: int  # records that were left out
    restoring: int  # tasks that are still bringing back their stores
    restored: int  # changelog entries that were replayed into stores
    lags: Mapping[str, int]  # by stream: records that are pending and that this batch did not read
    read: Mapping[str, int]  # by stream: records that its lanes have read and committed
    reports: tuple[TaskReport, ...]
    reached: ReachedWatermarks = field(default_factory=ReachedWatermarks)
    late: int = 0  # rows that came too late for their windows and joins
    restored_bytes: int = 0  # of the entries that were replayed
    rejected: Mapping[tuple[str, str], int] = field(default_factory=dict)  # left out, by stream and reason
    samples: tuple[RejectionSample, ...] = ()  # some of what was left out
    filling: int = 0  # records of side inputs that main inputs still wait for
    task_lags: Mapping[str, int] = field(default_factory=dict)  # as `lags`, of the tasks that have any
    lacking: Mapping[tuple[str, str], int] = field(
        default_factory=dict
    )  # rows left out for a null, see LACKS

    @property
    def watermarks(self) -> Mapping[str, int]:
        """The watermark of each stream of which every task that reads it has one."""
        return self.reached.streams

    @property
    def lag(self) -> int:
        """Records that are there and not yet read."""
        return sum(self.lags.values())

    def rows_of_users(self, intermediate: Container[str]) -> tuple[int, int]:
        """The rows that came in from outside of the app and went out of it, past these streams of its own.

        Counts by stream are of a lane, and reported by its first task: those of a task that failed beside it
        are among them.
        """
        passed: Counter[str] = Counter()
        for report in self.reports:
            for counter, stream, rows in report.counted if is_fine(report.status) else ():
                passed[counter] += rows if stream in intermediate else 0
        return max(0, self.rows_in - passed[ROWS_IN]), max(0, self.rows_out - passed[ROWS_OUT])

    def longest_steps(self) -> dict[str, float]:
        """By step, the seconds of the lane that took longest for it."""
        longest: dict[str, float] = {}
        for report in self.reports:
            for step, seconds in report.steps:
                longest[step] = max(seconds, longest.get(step, 0.0))
        return longest


def batch_result(
    number: int,
    incarnation: int,
    reports: tuple[TaskReport, ...],
    seconds: float,
    restoring: int,
    pending: Sequence[PendingRange],
    ranges: Sequence[PendingRange],
) -> BatchResult:
    """The result of a batch by all its reports. Of what was pending, its lanes were to read these ranges.

    What a task did whose batch failed is done again: it counts then.
    """
    done = [report for report in reports if is_fine(report.status)]
    done_tasks = {report.task for report in done}
    done_ranges = [one for one in ranges if one.task in done_tasks]
    read = by_stream(done_ranges)
    return BatchResult(
        number=number,
        incarnation=incarnation,
        seconds=seconds,
        rows_in=sum(report.rows_in for report in done),
        rows_out=sum(report.rows_out for report in done),
        bad=sum(report.bad for report in reports if report.checkpoint),
        restoring=restoring,
        restored=sum(report.restored for report in reports),
        lags=by_stream(pending) - read,
        read=read,
        reports=reports,
        late=_counted(done, LATE_ROWS_COUNTER),
        lacking=_lacking(done),
        restored_bytes=_counted(reports, RESTORED_BYTES),
        rejected=_rejected(reports),
        samples=_samples(reports),
        task_lags=_by_task(pending) - _by_task(done_ranges),
    )


def _counted(reports: Iterable[TaskReport], counter: str) -> int:
    return sum(number for report in reports for name, _, number in report.counted if name == counter)


def _lacking(reports: Iterable[TaskReport]) -> Counter[tuple[str, str]]:
    """Rows that an operator or table left out: by its name, and what they lack."""
    rows: Counter[tuple[str, str]] = Counter()
    for counter, name, number in (counted for report in reports for counted in report.counted):
        if counter in LACKS:
            rows[name, LACKS[counter]] += number
    return rows


def _rejected(reports: Iterable[TaskReport]) -> Counter[tuple[str, str]]:
    """The number of records left out, by stream and reason: those of failed tasks are read again."""
    reasons: Counter[tuple[str, str]] = Counter()
    for report in reports:
        if report.checkpoint:
            reasons = merged_reasons(reasons, report.rejections.reasons)
    return reasons


def _samples(reports: Iterable[TaskReport]) -> tuple[RejectionSample, ...]:
    samples = (sample for report in reports if report.checkpoint for sample in report.rejections.samples)
    return tuple(islice(samples, MOST_SAMPLES_OF_BATCH))


def _by_task(ranges: Iterable[PendingRange]) -> Counter[str]:
    """The number of records of each task."""
    records: Counter[str] = Counter()
    for one in ranges:
        records[one.task] += one.lag
    return records


def by_stream(ranges: Iterable[PendingRange]) -> Counter[str]:
    """The number of records of each stream."""
    records: Counter[str] = Counter()
    for one in ranges:
        records[declared_stream(one.partition.stream)] += one.lag
    return records

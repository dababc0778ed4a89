"""Batches as the loop tells of them."""

from collections.abc import Mapping, Sequence

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.lanes.event_time.reached_watermarks import ReachedWatermarks
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus


def reached(watermarks: Mapping[str, int | None], tasks: int = 1) -> ReachedWatermarks:
    """The watermarks of an app of which each task has the same."""
    return ReachedWatermarks({f"Partition {number}": watermarks for number in range(tasks)})


def batch(
    number: int = 1,
    *,
    seconds: float = 0.25,
    rows_in: int = 100,
    rows_out: int = 50,
    restored: int = 0,
    restored_bytes: int = 0,
    bad: int = 0,
    lags: Mapping[str, int] | None = None,
    given: Mapping[str, int] | None = None,
    watermarks: Mapping[str, int] | None = None,
    status: TaskStatus = TaskStatus.COMMITTED,
    counted: Sequence[tuple[str, str, int]] = (),
) -> BatchResult:
    return BatchResult(
        number=number,
        incarnation=1,
        seconds=seconds,
        rows_in=rows_in,
        rows_out=rows_out,
        bad=bad,
        restoring=0,
        restored=restored,
        restored_bytes=restored_bytes,
        lags=lags or {},
        read=given or {},
        reached=reached(watermarks or {}),
        reports=(TaskReport("Partition 0", status, counted=counted),),
    )

"""What the reports of a batch say together."""

from streamapp_runtime.driver.batches.batch_result import batch_result
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.operators.state.lane_state import (
    LATE_ROWS_COUNTER,
    NULL_KEYS_COUNTER,
    NULL_TIMES_COUNTER,
)

COUNTED = (
    (NULL_KEYS_COUNTER, "totals", 3),
    (NULL_TIMES_COUNTER, "hourly", 1),
    (LATE_ROWS_COUNTER, "hourly", 2),
    ("rowsIn", "totals", 50),
)


def test_rows_that_operators_left_out_are_counted_by_operator_and_by_what_they_lack() -> None:
    reports = tuple(
        TaskReport(task=task, status=status, counted=COUNTED)
        for task, status in (("a", TaskStatus.COMMITTED), ("b", TaskStatus.COMMITTED), ("c", TaskStatus.CODE))
    )
    result = batch_result(7, 1, reports, 0.5, restoring=0, pending=(), ranges=())
    assert result.lacking == {("totals", "key"): 6, ("hourly", "time"): 2}
    assert result.late == 4

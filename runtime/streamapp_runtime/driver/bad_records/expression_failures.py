"""The records on which expressions fail, of a search in which lanes report the rows, and why each does."""

from collections.abc import Callable, Mapping

from streamapp_runtime.driver.bad_records.bisection import TrialFailure
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.compilation.row_operations import ComputeColumns, EvaluateRows, FilterRows
from streamapp_runtime.program.program import Program

RecordId = tuple[str, int, int]
"""Stream, partition and offset."""


def failing_records(
    program: Program, trial: Callable[[], tuple[TaskReport, ...] | TrialFailure]
) -> Mapping[RecordId, str]:
    """The records on which expressions fail, found in one trial; none where something else fails."""
    named_by = ComputeColumns | EvaluateRows | FilterRows | Totals
    if not any(isinstance(task.operation, named_by) for task in program.tasks):
        return {}
    reports = trial()
    if isinstance(reports, TrialFailure):
        return {}
    return {one[:3]: one[3] for report in reports for one in report.failed_records}

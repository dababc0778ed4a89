"""The executor of each operation."""

from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.operators.operation_executor import OperationExecutor
from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.program.program import PlacedOperation


def task_executor(task: PlacedOperation) -> OperationExecutor:
    """The executor of a task, for as long as a worker serves an incarnation.

    UnsupportedOperationError where this version cannot, UserCodeError where the app's own code is missing.
    """
    source_schemas = [arrow_schema(edge.columns) for edge in task.sources]
    output_schema = arrow_schema(task.outputs[0].columns if task.outputs else ())
    return make_executor(task.operation, source_schemas, output_schema)

"""Which executor runs which operation."""

from collections.abc import Mapping

import pyarrow as pa

from streamapp_runtime.operations.choosing import Choosing
from streamapp_runtime.operations.executor import Executor, UnsupportedOperationError
from streamapp_runtime.operations.filling import Filling
from streamapp_runtime.operations.looking_up import LookingUp
from streamapp_runtime.program.operations import Choose, LookUp, SendToTable, SideInput
from streamapp_runtime.program.program import Task


def executor(task: Task, schemas: Mapping[str, pa.Schema]) -> Executor:
    """What runs a task in this worker, for as long as it serves an incarnation."""
    match task.operation:
        case Choose() as operation:
            return Choosing(operation)
        case LookUp() as operation:
            return LookingUp(operation)
        case SendToTable() | SideInput() as operation:
            return Filling(operation)
        case operation:
            raise UnsupportedOperationError(f"{task.name}: {type(operation).__name__}", "leave it out")

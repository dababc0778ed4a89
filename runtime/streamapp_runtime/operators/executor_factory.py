"""Makes the executor of an operation."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from streamapp_runtime.operators import operations as ops
from streamapp_runtime.operators.aggregate.group_key import group_key
from streamapp_runtime.operators.aggregate.running_totals import RunningTotalsExecutor
from streamapp_runtime.operators.aggregate.session_totals import SessionTotalsExecutor
from streamapp_runtime.operators.aggregate.totals_form import totals_form
from streamapp_runtime.operators.aggregate.window_output import window_output
from streamapp_runtime.operators.aggregate.window_totals import WindowTotalsExecutor
from streamapp_runtime.operators.join.join_buffer import join_side
from streamapp_runtime.operators.join.join_executor import JoinExecutor
from streamapp_runtime.operators.operation_executor import OperationExecutor, UnsupportedOperationError
from streamapp_runtime.operators.operations import Operation, Read, Totals, Write
from streamapp_runtime.operators.stateless.row_executors import FilterRowsExecutor, SelectColumnsExecutor
from streamapp_runtime.operators.tables.table_lookup import LookUpExecutor, RemoteLookUpExecutor
from streamapp_runtime.operators.tables.table_write import TableWriteExecutor
from streamapp_runtime.operators.user_code.process_executor import ProcessExecutor
from streamapp_runtime.operators.user_code.python_map import PythonMapExecutor
from streamapp_runtime.operators.user_code.user_code_loader import load_user_code


def make_executor(operation: ops.Operation, given: Sequence[pa.Schema], made: pa.Schema) -> OperationExecutor:
    """What runs an operation over sources with the given columns, and makes rows with others.

    UnsupportedOperationError where this version cannot, UserCodeError where the app's own code is missing.
    """
    reason = unsupported_reason(operation, given)
    if reason is not None:
        raise UnsupportedOperationError(reason, UNSUPPORTED_HINTS.get(type(operation), "leave it out"))
    return _made(operation, given, made)


def _made(operation: ops.Operation, given: Sequence[pa.Schema], made: pa.Schema) -> OperationExecutor:
    match operation:
        case ops.LookUp():
            found: OperationExecutor = LookUpExecutor(operation)
        case ops.LookUpRemote():
            found = RemoteLookUpExecutor(operation)
        case ops.WriteTable() | ops.FillTable():
            found = TableWriteExecutor(operation)
        case ops.Totals():
            found = _totals(operation, given[0])
        case ops.JoinStreams():
            left, right = given
            sides = join_side(0, operation.within_ms, left), join_side(1, operation.within_ms, right)
            found = JoinExecutor(operation, sides, (left, right))
        case ops.ProcessRows():
            found = ProcessExecutor(operation, given[0], made)
        case ops.PythonMap():
            found = PythonMapExecutor(operation, load_user_code(operation.python), given[0], made)
        case ops.SelectColumns():
            found = SelectColumnsExecutor(operation)
        case ops.FilterRows():
            found = FilterRowsExecutor(operation)
        case ops.Read() | ops.Write():
            raise AssertionError(operation)
    return found


def _totals(operation: ops.Totals, given: pa.Schema) -> OperationExecutor:
    key, form, out = (
        group_key(operation, given),
        totals_form(operation, given),
        window_output(operation, given),
    )
    if operation.window is None:
        return RunningTotalsExecutor(operation, key, form)
    if operation.window.kind == "session":
        return SessionTotalsExecutor(operation, key, form, out, operation.window.size_ms)
    return WindowTotalsExecutor(operation, key, form, out, operation.window)


UNSUPPORTED_HINTS: Mapping[type[Operation], str] = {
    Totals: "set emit: onUpdate, cast the columns, or count instead",
}


def unsupported_reason(operation: Operation, given: Sequence[pa.Schema] = ()) -> str | None:
    """Why an operation cannot run, None where it can. `given` are its sources' columns, where known."""
    if isinstance(operation, Read | Write):
        return "streams are read and written elsewhere"
    if isinstance(operation, Totals):
        return _unsupported_totals(operation, given)
    return None


def _unsupported_totals(operation: Totals, given: Sequence[pa.Schema]) -> str | None:
    if operation.emit == "onWatermark" and operation.window is None:
        return "running totals have no end that a watermark could pass"
    try:
        for schema in given:
            group_key(operation, schema)
            totals_form(operation, schema)
    except TypeError as error:
        return str(error)
    return None

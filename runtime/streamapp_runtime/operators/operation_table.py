"""The runner of each class of operations: the one table that workers, and the checks before a start, read."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

import pyarrow as pa

from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.aggregate.totals_runner import TOTALS_RUNNER
from streamapp_runtime.operators.compilation.row_operations import (
    ComputeColumns,
    EvaluateRows,
    FilterRows,
    KeyRows,
    SelectColumns,
)
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.join.join_runner import JOIN_RUNNER
from streamapp_runtime.operators.operation import Operation
from streamapp_runtime.operators.operation_executor import (
    OperationExecutor,
    OperationRunner,
    StateForm,
    UnsupportedOperationError,
    row_runner,
)
from streamapp_runtime.operators.stateless.evaluated_rows_executor import EVALUATE_ROWS_RUNNER
from streamapp_runtime.operators.stateless.row_executors import (
    COMPUTE_COLUMNS_RUNNER,
    FilterRowsExecutor,
    KeyRowsExecutor,
    SelectColumnsExecutor,
)
from streamapp_runtime.operators.tables.table_lookup import LookUpExecutor, RemoteLookUpExecutor
from streamapp_runtime.operators.tables.table_operations import FillTable, LookUp, LookUpRemote, WriteTable
from streamapp_runtime.operators.tables.table_write import TableWriteExecutor
from streamapp_runtime.operators.user_code.process_executor import PROCESS_RUNNER
from streamapp_runtime.operators.user_code.python_map import PYTHON_MAP_RUNNER
from streamapp_runtime.operators.user_code.user_operations import ProcessRows, PythonMap
from streamapp_runtime.rows.row_form import schema_hash

RUNNERS: Mapping[type[Operation], OperationRunner] = {
    SelectColumns: row_runner(SelectColumnsExecutor),
    KeyRows: row_runner(KeyRowsExecutor),
    FilterRows: row_runner(FilterRowsExecutor),
    ComputeColumns: COMPUTE_COLUMNS_RUNNER,
    EvaluateRows: EVALUATE_ROWS_RUNNER,
    LookUp: row_runner(LookUpExecutor),
    LookUpRemote: row_runner(RemoteLookUpExecutor),
    WriteTable: row_runner(TableWriteExecutor),
    FillTable: row_runner(TableWriteExecutor),
    Totals: TOTALS_RUNNER,
    JoinStreams: JOIN_RUNNER,
    ProcessRows: PROCESS_RUNNER,
    PythonMap: PYTHON_MAP_RUNNER,
}
"""All but the reading and writing of streams, which is the lanes'."""


def make_executor(
    operation: Operation, schemas: Sequence[pa.Schema], output_schema: pa.Schema
) -> OperationExecutor:
    """The executor of an operation over sources with the given columns; it makes rows with others.

    UnsupportedOperationError where this version cannot, UserCodeError where the app's own code is missing.
    """
    reason = unsupported_reason(operation, schemas)
    if reason is not None:
        raise UnsupportedOperationError(reason, _runner(operation).hint)
    return _runner(operation).executor(operation, schemas, output_schema)


def unsupported_reason(operation: Operation, schemas: Sequence[pa.Schema]) -> str | None:
    """Why an operation over sources with these columns cannot run; None where it can."""
    reason_of = _runner(operation).unsupported_reason
    return None if reason_of is None else reason_of(operation, schemas)


def state_form(operation: Operation, schemas: Sequence[pa.Schema]) -> StateForm | None:
    """The form of an operation's own state, over sources with these columns; None where it keeps nothing."""
    if operation.own_state() is None:
        return None
    form_of = _runner(operation).state_form
    if form_of is None:
        raise TypeError(f"{type(operation).__name__} keeps state, and nothing says what its bytes mean")
    return form_of(operation, schemas)


def state_schema_hash(operation: Operation, schemas: Sequence[pa.Schema]) -> str | None:
    """The hash of what an operation keeps of its own, over sources with these columns; None for nothing."""
    form = state_form(operation, schemas)
    if form is None:
        return None
    return sha256("\n".join([form.meaning, *map(schema_hash, form.schemas)]).encode()).hexdigest()[:32]


def _runner(operation: Operation) -> OperationRunner:
    if type(operation) not in RUNNERS:
        raise TypeError(f"nothing runs {type(operation).__name__}: it has no row in RUNNERS")
    return RUNNERS[type(operation)]

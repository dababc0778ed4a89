"""The runner of joins of two streams, and the form of their stores."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.operators.join.join_buffer import join_side
from streamapp_runtime.operators.join.join_executor import JoinExecutor
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.operation_executor import OperationRunner, StateForm
from streamapp_runtime.operators.state.stored_entries import EntryKind, StoredEntries, renamed_list


def _executor(operation: JoinStreams, schemas: Sequence[pa.Schema], _: pa.Schema) -> JoinExecutor:
    left, right = schemas
    sides = join_side(0, operation.within_ms, left), join_side(1, operation.within_ms, right)
    return JoinExecutor(operation, sides, (left, right))


def _state_form(operation: JoinStreams, schemas: Sequence[pa.Schema]) -> StateForm:
    stored = tuple(join_side(0, operation.within_ms, schema).schema for schema in schemas)
    readable = [
        pa.schema([renamed_list(side.field(0), ["at", "time", "met", *columns.names])])
        for side, columns in zip(stored, schemas, strict=True)
    ]
    entries = StoredEntries(EntryKind.JOIN, tuple(readable))
    return StateForm(f"join {operation.within_ms} {operation.time}", stored, entries)


JOIN_RUNNER = OperationRunner(executor=_executor, state_form=_state_form)

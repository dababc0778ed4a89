"""What an operator's own state means: a store of another meaning must not be read as it."""

from collections.abc import Sequence
from hashlib import sha256

import pyarrow as pa

from streamapp_runtime.operators.aggregate.session_store import sessions_schema
from streamapp_runtime.operators.aggregate.totals_form import totals_form
from streamapp_runtime.operators.aggregate.window_output import window_output
from streamapp_runtime.operators.join.join_buffer import join_side
from streamapp_runtime.operators.operations import JoinStreams, Operation, ProcessRows, Totals
from streamapp_runtime.operators.user_code.process_executor import state_columns_of
from streamapp_runtime.operators.user_code.user_code_loader import load_user_code
from streamapp_runtime.rows.row_form import schema_hash


def state_schema_hash(operation: Operation, given: Sequence[pa.Schema]) -> str | None:
    """The hash of what an operation keeps of its own, over sources with these columns; None for nothing."""
    described = _described(operation, given)
    if described is None:
        return None
    meaning, schemas = described
    return sha256("\n".join([meaning, *map(schema_hash, schemas)]).encode()).hexdigest()[:32]


def _described(operation: Operation, given: Sequence[pa.Schema]) -> tuple[str, list[pa.Schema]] | None:
    match operation:
        case Totals(window=window, composed=composed):
            form, out = totals_form(operation, given[0]), window_output(operation, given[0])
            names = [given[0].field(position).name for position in operation.key] if composed else []
            if window and window.kind == "session":
                return f"totals {window} by {names}", [sessions_schema(form, out)]
            return f"totals {window} by {names}", [pa.schema([*out.fields, *form.schema])]
        case JoinStreams(within_ms=within, time=time):
            return f"join {within} {time}", [join_side(0, within, schema).schema for schema in given]
        case ProcessRows(python=python):
            own = state_columns_of(load_user_code(python), python)
            return None if own is None else ("process", [own])
        case _:
            return None

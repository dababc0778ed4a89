"""What an operator's own state means: a store of another meaning must not be read as it."""

from collections.abc import Sequence
from hashlib import sha256

import pyarrow as pa

from streamapp_runtime.operations.held import side_of
from streamapp_runtime.operations.processing import own_columns
from streamapp_runtime.operations.put_out import put_out
from streamapp_runtime.operations.session_ends import sessions_schema
from streamapp_runtime.operations.totals_form import totals_form
from streamapp_runtime.operations.user_code import load
from streamapp_runtime.program.operations import JoinStreams, Operation, Process, Totals
from streamapp_runtime.rows.form import schema_hash


def schema_of(operation: Operation, given: Sequence[pa.Schema]) -> str | None:
    """The hash of what an operation keeps of its own, over sources with these columns; None for nothing."""
    described = _described(operation, given)
    if described is None:
        return None
    meaning, schemas = described
    return sha256("\n".join([meaning, *map(schema_hash, schemas)]).encode()).hexdigest()[:32]


def _described(operation: Operation, given: Sequence[pa.Schema]) -> tuple[str, list[pa.Schema]] | None:
    match operation:
        case Totals(window=window, composed=composed):
            form, out = totals_form(operation, given[0]), put_out(operation, given[0])
            names = [given[0].field(position).name for position in operation.key] if composed else []
            if window and window.kind == "session":
                return f"totals {window} by {names}", [sessions_schema(form, out)]
            return f"totals {window} by {names}", [pa.schema([*out.fields, *form.schema])]
        case JoinStreams(within_ms=within, time=time):
            return f"join {within} {time}", [side_of(0, within, schema).schema for schema in given]
        case Process(python=python):
            own = own_columns(load(python), python)
            return None if own is None else ("process", [own])
        case _:
            return None

"""The runner of totals, and the form of their state: running, by windows of a fixed size, or by sessions."""

from collections.abc import Sequence

import pyarrow as pa

from streamapp_runtime.operators.aggregate.group_key import group_key
from streamapp_runtime.operators.aggregate.running_totals import RunningTotalsExecutor
from streamapp_runtime.operators.aggregate.session_store import sessions_schema
from streamapp_runtime.operators.aggregate.session_totals import SessionTotalsExecutor
from streamapp_runtime.operators.aggregate.totals_form import totals_form
from streamapp_runtime.operators.aggregate.totals_operation import Totals
from streamapp_runtime.operators.aggregate.window_output import window_output
from streamapp_runtime.operators.aggregate.window_totals import WindowTotalsExecutor
from streamapp_runtime.operators.operation_executor import OperationExecutor, OperationRunner, StateForm
from streamapp_runtime.operators.state.stored_entries import (
    EntryKind,
    StoredEntries,
    renamed,
    renamed_list,
)


def _executor(operation: Totals, schemas: Sequence[pa.Schema], _: pa.Schema) -> OperationExecutor:
    (columns,) = schemas
    key, form = group_key(operation, columns), totals_form(operation, columns)
    out = window_output(operation, columns)
    if operation.window is None:
        return RunningTotalsExecutor(operation, key, form)
    if operation.window.kind == "session":
        return SessionTotalsExecutor(operation, key, form, out, operation.window.size_ms)
    return WindowTotalsExecutor(operation, key, form, out, operation.window)


def _state_form(operation: Totals, schemas: Sequence[pa.Schema]) -> StateForm:
    (columns,) = schemas
    form, out = totals_form(operation, columns), window_output(operation, columns)
    names = [columns.field(position).name for position in operation.key] if operation.composed else []
    window = operation.window
    meaning = f"totals {window and window.meaning} by {names}"
    labels = [columns.field(position).name for position in out.labels]
    totals = [partial.text for partial in operation.partials]
    if window is not None and window.kind == "session":
        schema = sessions_schema(form, out)
        *fields, sessions = renamed(schema, ["due", *labels, "sessions"])
        readable = pa.schema([*fields, renamed_list(sessions, ["first", "last", *totals])])
        return StateForm(meaning, (schema,), StoredEntries(EntryKind.SESSIONS, (readable,), window.size_ms))
    schema = pa.schema([*out.fields, *form.schema])
    kind, span_ms = (EntryKind.ROWS, 0) if window is None else (EntryKind.WINDOWS, window.size_ms)
    return StateForm(meaning, (schema,), StoredEntries(kind, (renamed(schema, [*labels, *totals]),), span_ms))


def _unsupported_reason(operation: Totals, schemas: Sequence[pa.Schema]) -> str | None:
    try:
        for schema in schemas:
            group_key(operation, schema)
            totals_form(operation, schema)
    except TypeError as error:
        return str(error)
    return None


TOTALS_RUNNER = OperationRunner(
    executor=_executor,
    state_form=_state_form,
    unsupported_reason=_unsupported_reason,
    hint="cast the columns, or count instead",
)

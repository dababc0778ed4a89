"""The state that the operations of a program touch, and how each kind of it is kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from streamapp.author.names import changelog_stream
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec
from streamapp_runtime.operators.operation_table import state_form, state_schema_hash
from streamapp_runtime.operators.state.stored_entries import StoredEntries
from streamapp_runtime.program.program import PlacedOperation, Program
from streamapp_runtime.rows.row_form import schema_hash
from streamapp_runtime.stores.store import StoreKind


@dataclass(frozen=True, slots=True)
class StoreSpec:
    """One kind of state: a table, or an operator's own."""

    name: str
    kind: StoreKind
    schema: str
    changelog: str | None  # the stream; None where none is kept


OPERATOR_STORE_KIND = StoreKind.LMDB
"""What an operator's own state is kept in: of these stores it has the cheapest look-ups."""


def touched_stores(tasks: Sequence[PlacedOperation]) -> tuple[str, ...]:
    """The names of the tables, and of operators with state of their own, that operations touch."""
    return tuple(sorted({*_tables(tasks), *_own_states(tasks)}))


def touched_remote_tables(tasks: Sequence[PlacedOperation]) -> tuple[str, ...]:
    """The names of the remote tables that operations ask."""
    return tuple(sorted({name for task in tasks for name in task.operation.remote_tables()}))


def touched_side_inputs(
    tasks: Sequence[PlacedOperation], adjuncts: Mapping[str, SideInputStoreSpec]
) -> dict[str, SideInputStoreSpec]:
    """The tables that side inputs fill which operations touch."""
    names = _tables(tasks)
    return {name: spec for name, spec in adjuncts.items() if name in names}


def store_specs(app: StreamApp, program: Program) -> dict[str, StoreSpec]:
    """The store spec of each table and operator's state that the program touches."""
    declared = {table.name: table for table in app.spec.tables}
    columns = {table.name: table.columns for table in program.tables}
    specs = {}
    for name in _tables(program.tasks):
        table = declared[name]
        if table.side_inputs:
            continue  # filled from its streams again, and kept otherwise
        schema = schema_hash(arrow_schema(columns[name]))
        specs[name] = StoreSpec(
            name, StoreKind(table.store), schema, _changelog(app, name, table.changelog is not False)
        )
    for name, schema in _own_states(program.tasks).items():
        specs[name] = StoreSpec(name, OPERATOR_STORE_KIND, schema, _changelog(app, name, has_changelog=True))
    return dict(sorted(specs.items()))


def operator_entries(program: Program) -> dict[str, StoredEntries]:
    """The layout of the entries in each operator's own store."""
    entries = {}
    for task in program.tasks:
        name, form = task.operation.own_state(), state_form(task.operation, _source_schemas(task))
        if name is not None and form is not None:
            entries[name] = form.entries
    return entries


def _own_states(tasks: Sequence[PlacedOperation]) -> dict[str, str]:
    """The operators that keep something of their own, and the hash of what that means."""
    hashes = {}
    for task in tasks:
        name, schema = task.operation.own_state(), _state_hash(task)
        if name is not None and schema is not None:
            hashes[name] = schema
    return hashes


def _state_hash(task: PlacedOperation) -> str | None:
    return state_schema_hash(task.operation, _source_schemas(task))


def _source_schemas(task: PlacedOperation) -> list[pa.Schema]:
    return [arrow_schema(edge.columns) for edge in task.sources]


def _changelog(app: StreamApp, name: str, has_changelog: bool) -> str | None:
    return changelog_stream(app.application_id, name) if has_changelog else None


def _tables(tasks: Sequence[PlacedOperation]) -> set[str]:
    return {name for task in tasks for name in task.operation.local_tables()}

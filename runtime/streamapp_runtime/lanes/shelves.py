"""Which state a layer touches, and how each kind of it is kept."""

from streamapp.spec.app import StreamApp
from streamapp_runtime.formats.types import arrow_schema
from streamapp_runtime.lanes.custody import Shelf
from streamapp_runtime.program.operations import (
    JoinStreams,
    LookUp,
    Operation,
    Process,
    SendToTable,
    SideInput,
    Totals,
)
from streamapp_runtime.program.program import Program, PythonLayer
from streamapp_runtime.rows.form import schema_hash
from streamapp_runtime.stores.opening import StoreKind

OWN_KIND = StoreKind.LMDB
"""What an operator's own state is kept in: of these stores it has the cheapest look-ups."""


def shelves_of(layer: PythonLayer) -> tuple[str, ...]:
    """The names of the tables, and of operators with state of their own, that a layer touches."""
    return tuple(sorted({name for task in layer.tasks for name in _touched(task.operation)}))


def shelves(app: StreamApp, program: Program) -> dict[str, Shelf]:
    """How everything that the program touches is kept."""
    tables = {table.name: table for table in app.spec.tables}
    columns = {table.name: table.columns for table in program.tables}
    names = {name for layer in program.layers if isinstance(layer, PythonLayer) for name in shelves_of(layer)}
    found = {}
    for name in sorted(names):
        if name in tables:
            schema = schema_hash(arrow_schema(columns[name]))
            logged = tables[name].changelog
            kind = StoreKind(tables[name].store)
        else:
            schema, logged, kind = "own", True, OWN_KIND
        stream = f"{app.application_id}.{name}.changelog" if logged else None
        found[name] = Shelf(name, kind, schema, stream)
    return found


def _touched(operation: Operation) -> tuple[str, ...]:
    match operation:
        case LookUp() | SendToTable() | SideInput():
            return (operation.table,)
        case Totals() | JoinStreams():
            return (operation.state,)
        case Process():
            return operation.tables
        case _:
            return ()

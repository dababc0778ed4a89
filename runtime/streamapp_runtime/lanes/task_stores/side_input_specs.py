"""The stores of tables that side inputs fill, and the streams that fill them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.tables import SideInput, Table
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.format_options import FormatOptions, format_options, reading_options
from streamapp_runtime.operators.stateless.stream_operations import Read, side_name
from streamapp_runtime.program.program import Program
from streamapp_runtime.rows.row_form import schema_hash
from streamapp_runtime.stores.store import StoreKind


@dataclass(frozen=True, slots=True)
class SideInputStream:
    """A stream that fills the table."""

    bootstrap: bool


@dataclass(frozen=True, slots=True)
class SideInputStoreSpec:
    """A table that side inputs fill. It has no changelog: its streams are what it is filled from again."""

    name: str
    kind: StoreKind
    meaning: str  # hash of its columns, and of how its streams become its rows
    retention_ms: int
    broadcast: bool = False
    before_join: bool = False  # whether joins see what comes in their own batch
    versions: bool = False  # whether its rows come as versions that are seen when they are whole
    sides: Mapping[str, SideInputStream] = field(default_factory=dict)  # by the name under which each is read


def side_input_store_specs(app: StreamApp, program: Program) -> dict[str, SideInputStoreSpec]:
    """The store spec of every table that side inputs fill."""
    columns = {table.name: table.columns for table in program.tables}
    options = format_options(app)
    reads = {
        task.operation.name: task.operation for task in program.tasks if isinstance(task.operation, Read)
    }
    specs = {}
    for table in sorted(app.spec.tables, key=lambda table: table.name):
        names = {side_name(side.stream, table.name): side for side in table.side_inputs}
        sides = {name: SideInputStream(side.bootstrap) for name, side in names.items()}
        if sides:
            specs[table.name] = SideInputStoreSpec(
                table.name,
                StoreKind(table.store),
                _meaning(
                    table, schema_hash(arrow_schema(columns[table.name])), [reads[n] for n in sides], options
                ),
                milliseconds(table.max_store_age),
                table.broadcast,
                table.visibility == "sameBatch",
                app.spec.in_versions(table),
                sides,
            )
    return specs


def _meaning(table: Table, columns: str, reads: list[Read], options: Mapping[str, FormatOptions]) -> str:
    """A store that was filled in another way must not be gone on with.

    Stores carry the hash of this text: the words in it stay, whatever the fields are called.
    """
    filled = [
        [_read_meaning(read, options.get(read.stream)), _side_input_meaning(side)]
        for read, side in zip(reads, table.side_inputs, strict=True)
    ]
    return sha256(json.dumps([columns, filled], sort_keys=True).encode()).hexdigest()[:32]


def _read_meaning(read: Read, options: FormatOptions | None) -> dict[str, object]:
    meaning: dict[str, object] = {
        "stream": read.stream,
        "system": read.system,
        "topic": read.topic,
        "role": read.role.value,
        "format": read.format,
        "columns": [{"name": c.name, "type": c.type, "nullable": c.nullable} for c in read.columns],
        "key": read.key,
        "event_time": read.event_time,
        "table": read.table,
        "control": read.control,
        "versions": read.versions,
    }
    if read.event_time_unit is not None:
        meaning["event_time_unit"] = read.event_time_unit
    if read.metadata:
        meaning["metadata"] = list(read.metadata)
    if options is not None:
        meaning["options"] = reading_options(options)
    return meaning


def _side_input_meaning(side: SideInput) -> dict[str, object]:
    return {
        "stream": side.stream,
        "key": side.key,
        "value": side.value,
        "python": side.python,
        "versions": side.versions,
    }

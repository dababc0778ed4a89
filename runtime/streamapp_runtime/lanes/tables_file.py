"""The description of an app's stores for looking into them: a file beside them."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.durable_forms import VersionRefusal
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.checkpoint import StateUnreadableError, json_fault
from streamapp_runtime.expressions.sql_types import column_list
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes.task_stores.store_specs import operator_entries
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.operators.state.stored_entries import EntryKind, NamedRows, StoredEntries
from streamapp_runtime.program.program import Program
from streamapp_runtime.rows.row_decoder import decode
from streamapp_runtime.runtime_durable_forms import TABLES_FILE
from streamapp_runtime.stores.directories.state_directory import app_directory, unquoted

TABLES_FILE_NAME = "tables.json"
_REWRITE_HINT = "delete it: the next start of the app recreates it"


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table, or an operator's own store: what its rows are, what keeps them, where changes are written."""

    name: str
    store: str
    columns: tuple[Column, ...]  # of a table
    changelog: str | None
    entries: StoredEntries | None = None  # of an operator's store

    @property
    def column_names(self) -> list[str]:
        """The columns of its rows."""
        if self.entries is not None:
            return self.entries.names
        return [column.name for column in self.columns]

    def rows(self, keys: pa.BinaryArray, values: pa.BinaryArray, key: bytes | None) -> Iterator[NamedRows]:
        """The rows of entries, or those of one key, in order of the key."""
        if self.entries is None:
            parts = iter([(keys, decode(values, arrow_schema(self.columns)))])
        else:
            parts = self.entries.rows(keys, values)
        for row_keys, rows in parts:
            order = pc.array_sort_indices(row_keys)
            if key is not None:
                order = order.filter(pc.equal(row_keys.take(order), key))
            if len(order):
                yield row_keys.take(order), rows.take(order)


def known_tables(program: Program, setup: WorkerSetup) -> dict[str, KnownTable]:
    """The tables that an app keeps, and the stores of its operators, by name."""
    stores = {name: (spec.kind, spec.changelog) for name, spec in setup.store_specs.items()}
    stores |= {name: (spec.kind, None) for name, spec in setup.side_input_specs.items()}
    tables = {
        table.name: KnownTable(table.name, stores[table.name][0], tuple(table.columns), stores[table.name][1])
        for table in program.tables
        if table.name in stores
    }
    for name, entries in operator_entries(program).items():
        tables[name] = KnownTable(name, stores[name][0], (), stores[name][1], entries)
    return tables


def write_tables_file(root: Path, program: Program, setup: WorkerSetup) -> None:
    """Note an app's tables, and the stores of its operators."""
    tables = {name: _table_fields(table) for name, table in known_tables(program, setup).items()}
    document = {"format": TABLES_FILE.version, "tables": tables}
    directory = app_directory(root, setup.application_id)
    directory.mkdir(parents=True, exist_ok=True)
    fresh = directory / f"{TABLES_FILE_NAME}.new"
    fresh.write_text(json.dumps(document, indent=2), "utf-8")
    fresh.replace(directory / TABLES_FILE_NAME)


def read_tables_file(root: Path) -> Mapping[str, tuple[KnownTable, ...]]:
    """The tables of every app that has state below a folder, by application id."""
    tables = {}
    for file in sorted(root.rglob(TABLES_FILE_NAME)):
        application_id = unquoted(str(file.parent.relative_to(root)))
        tables[application_id] = _decode_tables(file)
    return tables


def _table_fields(table: KnownTable) -> dict[str, Any]:
    fields: dict[str, Any] = {"columns": column_list(table.columns)}
    if (stored := table.entries) is not None:
        fields = {
            "entries": stored.kind,
            "schemas": [b64encode(schema.serialize()).decode() for schema in stored.schemas],
            "spanMs": stored.span_ms,
        }
    return fields | {"store": table.store, "changelog": table.changelog}


def _decode_tables(file: Path) -> tuple[KnownTable, ...]:
    try:
        document = json.loads(file.read_text("utf-8"))
        number = document.get("format")  # a number only in later versions: a table of that name is an object
        version = TABLES_FILE.version_within(number, str(file))
        if isinstance(version, VersionRefusal):
            raise StateUnreadableError(f"{version.message}; {version.hint or _REWRITE_HINT}")
        tables = document if version == 1 else document["tables"]
        return tuple(_decode_table(name, facts) for name, facts in sorted(tables.items()))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        message = f"{file} cannot be read: {json_fault(error)}; {_REWRITE_HINT}"
        raise StateUnreadableError(message) from None


def _decode_table(name: str, facts: Mapping[str, Any]) -> KnownTable:
    store, changelog = facts["store"], facts["changelog"]
    if "entries" not in facts:
        return KnownTable(name, store, tuple(parse_columns(facts["columns"])), changelog)
    schemas = tuple(pa.ipc.read_schema(pa.py_buffer(b64decode(text))) for text in facts["schemas"])
    stored = StoredEntries(EntryKind(facts["entries"]), schemas, int(facts["spanMs"]))
    return KnownTable(name, store, (), changelog, stored)

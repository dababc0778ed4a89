"""What there is to know of an app's tables for looking into them: a file beside their stores."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from streamapp.durable_forms import VersionRefusal
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.checkpoint import StateUnreadableError, json_fault
from streamapp_runtime.expressions.sql_types import column_list
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.program.program import TableColumns
from streamapp_runtime.runtime_durable_forms import TABLES_FILE
from streamapp_runtime.stores.directories.state_directory import app_directory, unquoted

TABLES_FILE_NAME = "tables.json"
_REWRITE_HINT = "delete it: the next start of the app writes it anew"


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table: what its rows are, what keeps them, where its changes are written."""

    name: str
    store: str
    columns: tuple[Column, ...]
    changelog: str | None


def write_tables_file(root: Path, tables: Iterable[TableColumns], setup: WorkerSetup) -> None:
    """Note an app's tables."""
    stores = {name: (spec.kind, spec.changelog) for name, spec in setup.store_specs.items()}
    stores |= {name: (spec.kind, None) for name, spec in setup.side_input_specs.items()}
    entries = {}
    for table in tables:
        if table.name in stores:
            kind, changelog = stores[table.name]
            entries[table.name] = {
                "store": kind,
                "columns": column_list(table.columns),
                "changelog": changelog,
            }
    directory = app_directory(root, setup.application_id)
    directory.mkdir(parents=True, exist_ok=True)
    fresh = directory / f"{TABLES_FILE_NAME}.new"
    fresh.write_text(json.dumps(entries, indent=2), "utf-8")
    fresh.replace(directory / TABLES_FILE_NAME)


def read_tables_file(root: Path) -> Mapping[str, tuple[KnownTable, ...]]:
    """The tables of every app that has state below a folder, by application id."""
    tables = {}
    for file in sorted(root.rglob(TABLES_FILE_NAME)):
        application_id = unquoted(str(file.parent.relative_to(root)))
        tables[application_id] = _decode_tables(file)
    return tables


def _decode_tables(file: Path) -> tuple[KnownTable, ...]:
    try:
        entries = json.loads(file.read_text("utf-8"))
        number = entries.get("format")  # a number only in later versions: a table of that name is an object
        version = TABLES_FILE.version_within(number, str(file))
        if isinstance(version, VersionRefusal):
            raise StateUnreadableError(f"{version.message}; {version.hint or _REWRITE_HINT}")
        return tuple(
            KnownTable(name, entry["store"], tuple(parse_columns(entry["columns"])), entry["changelog"])
            for name, entry in sorted(entries.items())
        )
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        message = f"{file} cannot be read: {json_fault(error)}; {_REWRITE_HINT}"
        raise StateUnreadableError(message) from None

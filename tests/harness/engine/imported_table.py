"""An app that reads one table, the drivers that import it, and the rows that its stream has then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.imports.imported_table import ImportedTable, imported_tables
from streamapp_runtime.driver.imports.table_import import ImportProgress, import_tables, no_listener
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.systems.app_systems import Systems
from tests.harness.core.app_resources import EMBEDDED, app_resource

Row = dict[str, Any]
HOME = dict(EMBEDDED)


class SourceTables(Protocol):
    """A source under test, and the way by which others write its table."""

    @property
    def system(self) -> dict[str, Any]:
        """The kind of the system, as a resource says it."""

    def write(self, table: str, rows: pa.Table) -> None:
        """Make these the rows of a table, which is made if it is not there."""


def reading_app(
    system: dict[str, Any], columns: str, *, home: dict[str, Any] = HOME, **stream: Any
) -> StreamApp:
    """A batch app that copies the table `sales`."""
    read = {"name": "in", "system": "tables", "topic": "sales", "columns": columns, **stream}
    resource = app_resource(
        [{"name": "send", "sendTo": {"from": "in", "stream": "out"}}],
        [read, {"name": "out"}],
        applicationId="orders",
        mode="batch",
        systems=[home, {"name": "tables", **system}],
    )
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


def refreshed_app(system: dict[str, Any], columns: str, **stream: Any) -> StreamApp:
    """An app that fills a table with the table `sales`, and looks for newer versions of it."""
    read = {"name": "in", "system": "tables", "topic": "sales", "columns": columns, **stream}
    resource = app_resource(
        [{"name": "send", "sendTo": {"from": "orders", "stream": "out"}}],
        [read, {"name": "orders", "system": "main", "columns": columns}, {"name": "out", "system": "main"}],
        [{"name": "sales", "sideInputs": [{"stream": "in", "bootstrap": True}]}],
        applicationId="orders",
        systems=[HOME, {"name": "tables", **system}],
    )
    parsed = parse_data(resource)
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


class ImportedApp:
    """One home, and a driver after another."""

    def __init__(self, folder: Path, app: StreamApp, secrets: Path | None = None) -> None:
        self.app = app
        self.systems = Systems(storage_of(app, folder, secrets).systems)
        self.ledger = CheckpointStream(self.systems.home, "orders.checkpoint")

    def start(
        self, import_progressed: Callable[[ImportProgress], None] = no_listener, *, fresh: bool = False
    ) -> ImportedTable:
        """Take over, and import what is not imported."""
        self.ledger = CheckpointStream(self.systems.home, "orders.checkpoint")
        self.ledger.open("run", reset=StateReset.of_run(self.app, fresh=fresh))
        import_tables(self.app, self.systems, self.ledger, import_progressed)
        return self.imported

    @property
    def imported(self) -> ImportedTable:
        """The import as it is recorded."""
        return imported_tables(self.ledger)["in"]

    def records(self) -> list[tuple[int, Row]]:
        """All records that are read as the input, with their partitions."""
        found = []
        for partition in self.systems.partitions_of(["in"]):
            span = self.systems.spans([partition])[partition]
            for batch in self.systems.read(partition, span.oldest, span.end):
                found += [(partition.index, row) for row in batch.to_pylist()]
        return found

    def rows(self) -> list[Row]:
        """The rows of these records; of one that is no row its bytes."""
        values = pa.array([record["value"] for _, record in self.records()], pa.binary())
        decoded = open_format("json", parse_columns(self.app.spec.stream("in").columns or "")).decode(values)
        bad = {one.index for one in decoded.bad}
        return [
            {"bad": values[place].as_py()} if place in bad else row
            for place, row in enumerate(decoded.columns.to_pylist())
        ]

    def close(self) -> None:
        self.systems.close()

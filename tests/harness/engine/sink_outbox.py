"""The outbox of a table in an embedded log, its deliveries into a sink, and the rows that should be there."""

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDelivery
from streamapp_runtime.driver.start.app_storage import storage_of
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import RECORDS, StreamOptions
from tests.harness.core.app_resources import app_resource

WRITER = "tests"
Row = dict[str, Any]


class ReadTables(Protocol):
    """A sink under test, and another way to look into its tables."""

    @property
    def system(self) -> dict[str, Any]:
        """The kind of the system, as a resource says it."""

    def rows(self, table: str) -> list[Row]:
        """The rows of a table, as somebody else reads them; none where there is no table."""


class TestedTables(ReadTables, Protocol):
    """The same, and another way to change its tables."""

    def write_as_another(self, table: str, row: Row) -> None:
        """A commit by somebody who knows nothing of the app."""


def tables_app(
    system: Mapping[str, Any], columns: str, key: str = "", *, upserts: bool, **spec: Any
) -> StreamApp:
    """An app that sends the rows of a stream to the table `sales`."""
    table = {"name": "out", "system": "tables", "topic": "sales", "columns": columns}
    if key:
        table["key"] = key
    if upserts:
        table["primaryKey"] = [key]
    resource = app_resource(
        [{"name": "send", "sendTo": {"from": "in", "stream": "out"}}],
        [{"name": "in", "columns": columns}, table],
        applicationId="orders",
        systems=[{"name": "main", "embedded": {"path": "main"}}, {"name": "tables", **system}],
        **spec,
    )
    parsed = parse_data(resource)
    assert not parsed.problems
    return parsed.apps[0]


class SinkOutbox:
    """Rows are written as lanes do; a list of them tells what the table has to have in the end."""

    def __init__(self, folder: Path, tables: ReadTables, app: StreamApp, secrets: Path | None = None) -> None:
        self.folder, self.tables, self.app = folder, tables, app
        self.outbox = f"{app.application_id}.out.outbox"
        self.storage = storage_of(app, folder, secrets)
        self.systems = Systems(self.storage.systems)
        if self.systems.partitions(self.outbox) is None:
            self.systems.create(self.outbox, 1, StreamOptions(engine_owned=True))

    def write(self, rows: Sequence[tuple[str, Row | None]], stream: str = "out") -> None:
        """Rows under their keys, or None for a tombstone, in one transaction."""
        keys = pa.array([key.encode() for key, _ in rows], pa.binary())
        values = pa.array([None if row is None else json.dumps(row).encode() for _, row in rows], pa.binary())
        times = pa.array([7] * len(rows), pa.int64())
        transaction = self.systems.home.begin(WRITER, 0)
        records = pa.record_batch([keys, values, times], schema=RECORDS)
        transaction.append(self.systems.at_home(Partition(stream, 0)), records)
        transaction.commit()

    def delivery(self) -> OutboxDelivery:
        return OutboxDelivery(self.app, self.storage.systems, "tables")

    def deliver(self) -> None:
        """Another driver delivers all that there is."""
        with closing(self.delivery()) as delivery:
            while delivery.deliver():
                pass

    def take_over(self) -> None:
        """Another driver starts."""
        with closing(self.delivery()) as delivery:
            delivery.take_over()

    def rows(self) -> list[Row]:
        return sorted(self.tables.rows("sales"), key=lambda row: str(sorted(row.items(), key=str)))

    def close(self) -> None:
        self.systems.close()

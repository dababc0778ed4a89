"""A Delta table takes the rows of outboxes as every sink does; somebody else reads them."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.systems.stream_system import DeniedError
from tests.harness.engine.sink_outbox import Row, SinkOutbox, tables_app
from tests.runtime.systems.sinks.lake_contract import LakeContract
from tests.runtime.systems.sinks.sink_contract import COLUMNS, all_rows, deliver_all, numbered


@dataclass(slots=True)
class DeltaTables:
    """A folder of tables."""

    folder: Path

    @property
    def system(self) -> dict[str, Any]:
        return {"delta": {"path": str(self.folder), "createIfMissing": True, "commitInterval": "0s"}}

    def table(self, table: str) -> deltalake.DeltaTable:
        return deltalake.DeltaTable(str(self.folder / table))

    def rows(self, table: str) -> list[Row]:
        try:
            rows: list[Row] = self.table(table).to_pyarrow_table().to_pylist()
        except TableNotFoundError:
            return []
        return rows

    def files(self, table: str) -> int:
        return len(self.table(table).file_uris())

    def write_as_another(self, table: str, row: Row) -> None:
        delta = self.table(table)
        rows = pa.Table.from_pylist([row], pa.schema(delta.schema()))
        deltalake.write_deltalake(delta, rows, mode="append")


@pytest.fixture
def tables(tmp_path: Path) -> DeltaTables:
    return DeltaTables(tmp_path / "lake")


class TestDelta(LakeContract):
    pass


@pytest.fixture
def outbox(tmp_path: Path, tables: DeltaTables) -> Iterator[SinkOutbox]:
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=False))
    yield made
    made.close()


def test_a_commit_whose_reply_is_lost_is_recognised(
    outbox: SinkOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = deltalake.write_deltalake

    def lose_reply(*arguments: Any, **options: Any) -> None:
        write(*arguments, **options)
        raise CommitFailedError("the reply is lost")

    with closing(outbox.delivery()) as delivery:
        delivery.take_over()
        outbox.write(numbered(0, 3))
        with monkeypatch.context() as losing:
            losing.setattr(deltalake, "write_deltalake", lose_reply)
            assert delivery.deliver()
        outbox.write(numbered(3, 1))
        deliver_all(delivery)
    assert sorted(outbox.rows(), key=str) == all_rows(4)


def test_maintenance_by_others_between_commits_forgets_nothing(
    outbox: SinkOutbox, tables: DeltaTables
) -> None:
    for number in range(4):
        outbox.write(numbered(number, 1))
        outbox.deliver()
        delta = tables.table("sales")
        delta.optimize.compact()
        delta.create_checkpoint()
        delta.cleanup_metadata()
        delta.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    outbox.deliver()
    assert sorted(outbox.rows(), key=str) == all_rows(4)
    assert tables.files("sales") == 1


def test_a_table_whose_properties_let_positions_expire_is_refused(
    tmp_path: Path, tables: DeltaTables
) -> None:
    configuration = {"delta.setTransactionRetentionDuration": "interval 1 days"}
    schema = deltalake.Schema.from_arrow(pa.schema([("id", pa.int64()), ("shop", pa.string())]))
    deltalake.DeltaTable.create(str(tables.folder / "sales"), schema, configuration=configuration)
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, upserts=False))
    with pytest.raises(
        AppRefusedError, match="is interval 1 days, after which it is forgotten what the table has"
    ):
        made.take_over()
    made.close()


def test_a_table_with_a_feature_that_the_library_lacks_is_no_outage(
    tmp_path: Path, tables: DeltaTables
) -> None:
    schema = deltalake.Schema.from_arrow(pa.schema([("id", pa.int64()), ("shop", pa.string())]))
    deltalake.DeltaTable.create(str(tables.folder / "sales"), schema)
    (version,) = (tables.folder / "sales" / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in version.read_text().splitlines()]
    for line in lines:
        if protocol := line.get("protocol"):
            protocol |= {"minReaderVersion": 3, "minWriterVersion": 7}
            protocol |= {"readerFeatures": [], "writerFeatures": ["rowTracking"]}
    version.write_text("\n".join(json.dumps(line) for line in lines))
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, upserts=False))
    with pytest.raises(DeniedError, match=r"Unsupported table features required: .*; drop these"):
        made.take_over()
    made.close()


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        (
            [("id", pa.int64())],
            "id BIGINT, shop STRING",
            '"shop" is missing in the table; say evolve: add, or ALTER',
        ),
        ([("id", pa.int32())], "id BIGINT", '"id" is integer in the table, and long here; cast it in a map'),
        ([("id", pa.string())], "id BIGINT", '"id" is string in the table, and long here; cast it in a map'),
        (
            [("id", pa.decimal128(9, 2))],
            "id DECIMAL(9, 3)",
            '"id" is decimal(9,2) in the table, and decimal(9,3)',
        ),
        (
            [("id", pa.timestamp("us"))],
            "id TIMESTAMP",
            '"id" is timestamp_ntz in the table, and timestamp here',
        ),
        (
            [pa.field("id", pa.int64(), nullable=False)],
            "id BIGINT",
            '"id" is NOT NULL in the table and may be',
        ),
        (
            [("id", pa.int64()), pa.field("n", pa.int32(), nullable=False)],
            "id BIGINT",
            '"n" of the table is NOT',
        ),
    ],
)
def test_a_table_that_does_not_take_all_rows_is_refused_before_the_start(
    tmp_path: Path, tables: DeltaTables, table: list[Any], columns: str, says: str
) -> None:
    schema = deltalake.Schema.from_arrow(pa.schema(table))
    deltalake.DeltaTable.create(str(tables.folder / "sales"), schema)
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, columns, upserts=False))
    with pytest.raises(AppRefusedError, match=re.escape(says)):
        made.take_over()
    made.close()


def test_wider_columns_partitions_and_columns_of_others_are_written(
    tmp_path: Path, tables: DeltaTables
) -> None:
    kinds = [
        ("more", pa.string()),
        ("small", pa.int64()),
        ("day", pa.date32()),
        ("tags", pa.list_(pa.string())),
    ]
    schema = deltalake.Schema.from_arrow(pa.schema([*kinds, ("price", pa.decimal128(20, 4))]))
    deltalake.DeltaTable.create(str(tables.folder / "sales"), schema, partition_by=["day"])
    columns = "small INT, day DATE, tags ARRAY<STRING>, price DECIMAL(9, 2)"
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, columns, upserts=False))
    made.write([("", {"small": 3, "day": "2026-11-29", "tags": ["a", None], "price": 1.5})])
    made.deliver()
    made.close()
    day = date(2026, 11, 29)
    row = {"more": None, "small": 3, "day": day, "tags": ["a", None], "price": Decimal("1.5000")}
    assert tables.rows("sales") == [row]
    assert "day=2026-11-29" in tables.table("sales").file_uris()[0]

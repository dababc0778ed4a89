"""An Iceberg table takes the rows of outboxes as every sink does; DuckDB reads its files."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property, partialmethod
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, NoSuchTableError
from pyiceberg.table import Table

from streamapp.spec.parser import parse_data
from streamapp.spec.serialization import as_data
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.systems.connection import IcebergConnection, open_sink
from streamapp_runtime.systems.sinks import iceberg_sink
from streamapp_runtime.systems.sinks.sink import SinkTable
from streamapp_runtime.systems.stream_system import (
    FencedError,
    InvalidSettingsError,
    RecordRefusedError,
    UnavailableError,
)
from tests.harness.engine.sink_outbox import Row, SinkOutbox, tables_app
from tests.runtime.systems.sinks.lake_contract import LakeContract
from tests.runtime.systems.sinks.sink_contract import COLUMNS, all_rows, deliver_all, numbered

TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))


@dataclass
class IcebergTables:
    """A warehouse in a folder, with a catalog in SQLite."""

    folder: Path

    @property
    def properties(self) -> dict[str, str]:
        return {
            "type": "sql",
            "uri": f"sqlite:///{self.folder}/catalog.db",
            "warehouse": f"file://{self.folder}/warehouse",
        }

    @property
    def system(self) -> dict[str, Any]:
        body = {"catalog": "lake", "namespace": "shop", "config": self.properties}
        return {"iceberg": {**body, "createIfMissing": True, "commitInterval": "0s"}}

    @cached_property
    def catalog(self) -> SqlCatalog:
        return SqlCatalog("lake", **self.properties)

    def table(self, table: str) -> Table:
        return self.catalog.load_table(("shop", table))

    def create(self, schema: pa.Schema) -> Table:
        self.catalog.create_namespace_if_not_exists("shop")
        return self.catalog.create_table("shop.sales", schema)

    def paths(self, table: str) -> list[str]:
        return [task.file.file_path for task in self.table(table).scan().plan_files()]

    def files(self, table: str) -> int:
        return len(self.paths(table))

    def rows(self, table: str) -> list[Row]:
        try:
            paths = self.paths(table)
        except NoSuchTableError:
            return []
        with duckdb.connect() as reader:
            reader.execute("SET TimeZone = 'UTC'")
            files = [reader.sql(f"FROM '{path}'").to_arrow_table() for path in paths]
            return [row for file in files for row in file.to_pylist()]

    def write_as_another(self, table: str, row: Row) -> None:
        written = self.table(table)
        written.append(pa.Table.from_pylist([row], written.schema().as_arrow()))


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[IcebergTables]:
    (tmp_path / "lake").mkdir()
    made = IcebergTables(tmp_path / "lake")
    assert made.catalog.list_namespaces() == [], "a catalog is there, as others have made it"
    yield made
    made.catalog.close()


class TestIceberg(LakeContract):
    pass


@pytest.fixture
def outbox(tmp_path: Path, tables: IcebergTables) -> Iterator[SinkOutbox]:
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=False))
    yield made
    made.close()


def _committing(monkeypatch: pytest.MonkeyPatch, commit: Callable[..., Any]) -> None:
    """Commits go to this function, which has the catalog's own one as its first argument."""
    monkeypatch.setattr(SqlCatalog, "commit_table", partialmethod(commit, SqlCatalog.commit_table))


def test_a_commit_on_its_way_that_arrives_after_another_driver_has_taken_over_adds_nothing(
    outbox: SinkOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(outbox.delivery()) as older, closing(outbox.delivery()) as newer:
        older.take_over()
        outbox.write(numbered(0, 3))

        def arrive_late(
            catalog: SqlCatalog, commit: Callable[..., Any], *arguments: Any, **parts: Any
        ) -> Any:
            with monkeypatch.context() as others:
                others.setattr(SqlCatalog, "commit_table", commit)
                newer.take_over()
            return commit(catalog, *arguments, **parts)

        with monkeypatch.context() as late:
            _committing(late, arrive_late)
            with pytest.raises(FencedError):
                older.deliver()
        assert outbox.rows() == []
        deliver_all(newer)
    assert sorted(outbox.rows(), key=str) == all_rows(3)


@pytest.mark.parametrize("echo", [CommitFailedException, CommitStateUnknownException])
def test_a_commit_whose_reply_is_lost_is_recognised_and_keeps_its_files(
    outbox: SinkOutbox, monkeypatch: pytest.MonkeyPatch, echo: type[Exception]
) -> None:
    def lose_reply(catalog: SqlCatalog, commit: Callable[..., Any], *arguments: Any, **parts: Any) -> Any:
        commit(catalog, *arguments, **parts)
        raise echo("the reply is lost")

    with closing(outbox.delivery()) as delivery:
        delivery.take_over()
        outbox.write(numbered(0, 3))
        with monkeypatch.context() as losing:
            _committing(losing, lose_reply)
            if echo is CommitFailedException:
                assert delivery.deliver()
            else:
                with pytest.raises(UnavailableError, match=r"lake\.shop\.sales: the reply is lost"):
                    delivery.deliver()
                delivery.give_up("lost")
        outbox.write(numbered(3, 1))
        deliver_all(delivery)
    assert sorted(outbox.rows(), key=str) == all_rows(4)


def test_positions_outlive_the_snapshots_that_wrote_them(outbox: SinkOutbox, tables: IcebergTables) -> None:
    outbox.write(numbered(0, 3))
    outbox.deliver()
    tables.write_as_another("sales", {"id": 3, "shop": "shop-0"})
    table = tables.table("sales")
    ours = [one.snapshot_id for one in table.snapshots()[:-1]]
    table.maintenance.expire_snapshots().by_ids(ours).commit()
    assert len(tables.table("sales").snapshots()) == 1
    outbox.write(numbered(4, 1))
    outbox.deliver()
    assert sorted(outbox.rows(), key=str) == all_rows(5)


def test_a_table_whose_files_others_put_together_keeps_the_positions(
    outbox: SinkOutbox, tables: IcebergTables
) -> None:
    for number in range(3):
        outbox.write(numbered(number, 1))
        outbox.deliver()
        table = tables.table("sales")
        table.overwrite(table.scan().to_arrow())
    assert tables.files("sales") == 1
    outbox.deliver()
    assert sorted(outbox.rows(), key=str) == all_rows(3)


def _set_back(table: Table) -> None:
    first = next(one for one in table.snapshots() if one.summary and one.summary["total-records"] == "3")
    table.manage_snapshots().set_current_snapshot(first.snapshot_id).commit()


def _take_positions(table: Table) -> None:
    table.transaction().remove_properties("streamapp.orders.delivery").commit_transaction()


@pytest.mark.parametrize("change", [_set_back, _take_positions])
def test_a_table_that_lost_positions_or_rows_is_refused_and_named(
    outbox: SinkOutbox, tables: IcebergTables, change: Callable[[Table], None]
) -> None:
    for number in range(2):
        outbox.write(numbered(3 * number, 3))
        outbox.deliver()
    change(tables.table("sales"))
    before = len(tables.table("sales").snapshots())
    with pytest.raises(
        StateUnreadableError, match=r'lake\.shop\.sales: "streamapp\.orders\.delivery" of the'
    ):
        outbox.take_over()
    assert len(tables.table("sales").snapshots()) == before


def test_a_commit_leaves_the_properties_of_the_table_and_names_its_positions_in_the_snapshot(
    outbox: SinkOutbox, tables: IcebergTables
) -> None:
    outbox.write(numbered(0, 2))
    outbox.deliver()
    table = tables.table("sales")
    newest = table.current_snapshot()
    assert newest is not None
    assert newest.summary is not None
    numbers = newest.summary["streamapp.orders.delivery"]
    assert table.properties.keys() == {"streamapp.orders.delivery"}
    assert table.properties["streamapp.orders.delivery"] == numbers
    assert json.loads(numbers or "")[str(Partition("orders.out.outbox", 0))] == 2


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        (
            [("id", pa.int64())],
            "id BIGINT, shop STRING",
            '"shop" is missing in the table; say evolve: add, or ALTER',
        ),
        ([("id", pa.int32())], "id BIGINT", '"id" is int in the table, and long here; cast it in a map'),
        ([("id", pa.string())], "id BIGINT", '"id" is string in the table, and long here; cast it'),
        ([("id", pa.decimal128(9, 2))], "id DECIMAL(9, 3)", '"id" is decimal(9,2) in the table, and decimal'),
        ([("id", pa.timestamp("us"))], "id TIMESTAMP", '"id" is timestamp in the table, and timestamptz'),
        (
            [("id", TEXTS)],
            "id ARRAY<STRING>",
            '"id" is list<string required> in the table, and list<string> h',
        ),
        ([pa.field("id", pa.int64(), nullable=False)], "id BIGINT", '"id" is NOT NULL in the table and may'),
        ([("id", pa.int64()), pa.field("n", pa.int32(), nullable=False)], "id BIGINT", '"n" of the table is'),
    ],
)
def test_a_table_that_does_not_take_all_rows_is_refused_before_the_start(
    tmp_path: Path, tables: IcebergTables, table: list[Any], columns: str, says: str
) -> None:
    tables.create(pa.schema(table))
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, columns, upserts=False))
    with pytest.raises(AppRefusedError, match=re.escape(says)):
        made.take_over()
    made.close()


def test_wider_columns_partitions_and_columns_of_others_are_written(
    tmp_path: Path, tables: IcebergTables
) -> None:
    kinds = [
        ("more", pa.string()),
        ("small", pa.int64()),
        ("day", pa.date32()),
        ("tags", pa.list_(pa.string())),
        ("sizes", pa.map_(pa.string(), pa.int32())),
        ("place", pa.struct([("city", pa.string())])),
    ]
    table = tables.create(pa.schema([*kinds, ("price", pa.decimal128(20, 4))]))
    table.update_spec().add_identity("day").commit()
    columns = (
        "small SMALLINT, day DATE, tags ARRAY<STRING>, sizes MAP<STRING, INT>, place STRUCT<city: STRING>, "
        "price DECIMAL(9, 2)"
    )
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, columns, upserts=False))
    row = {"small": 3, "tags": ["a", None], "sizes": {"s": 1}, "place": {"city": "x"}}
    made.write([("", {**row, "day": "2026-11-29", "price": 1.5})])
    made.deliver()
    made.close()
    row |= {"more": None, "day": date(2026, 11, 29), "price": Decimal("1.5000"), "sizes": [("s", 1)]}
    assert tables.rows("sales") == [row]
    assert "day=2026-11-29" in tables.paths("sales")[0]


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("INT", [1, 2]),
        ("DATE", ["2026-11-29", "0001-01-01"]),
        ("DECIMAL(9, 2)", [1.25, -3.5]),
        ("TIMESTAMP", ["2026-11-29T12:00:00.123456Z", "1900-01-01T00:00:00Z"]),
        ("TIMESTAMP_NTZ", ["2026-11-29T12:00:00.123456", "1900-01-01T00:00:00"]),
        ("BOOLEAN", [True, False]),
    ],
)
def test_rows_are_replaced_and_deleted_by_keys_of_every_type(
    tmp_path: Path, tables: IcebergTables, kind: str, keys: list[Any]
) -> None:
    app = tables_app(tables.system, f"id {kind}, n INT", "id", upserts=True)
    made = SinkOutbox(tmp_path / "home", tables, app)
    texts = [str(key).lower() if isinstance(key, bool) else str(key).removesuffix("Z") for key in keys]
    for number in range(2):
        made.write([(text, {"id": key, "n": number}) for text, key in zip(texts, keys, strict=True)])
        made.deliver()
        assert [row["n"] for row in tables.rows("sales")] == [number] * 2
    made.write([(texts[0], None)])
    made.deliver()
    made.close()
    assert len(tables.rows("sales")) == 1


def test_a_primary_key_that_one_commit_cannot_keep_is_refused_by_name(
    tmp_path: Path, tables: IcebergTables
) -> None:
    tables.create(pa.schema([("id", pa.int64()), ("shop", pa.string()), ("more", pa.string())]))
    data = as_data(tables_app(tables.system, COLUMNS, "id", upserts=True))
    data["spec"]["streams"][1]["primaryKey"] = ["id", "shop"]
    made = SinkOutbox(tmp_path / "home", tables, parse_data(data).apps[0])
    with pytest.raises(AppRefusedError) as refused:
        made.take_over()
    made.close()
    says = [problem.message for problem in refused.value.problems]
    assert says == [
        "primaryKey of an Iceberg table is one column; make one of them in a map, or use delta",
        '"more" of the table would be lost where a row is replaced; add it to columns',
    ]


def test_a_null_in_a_column_that_has_none_ends_the_delivery(tmp_path: Path, tables: IcebergTables) -> None:
    tables.create(pa.schema([pa.field("id", pa.int64(), nullable=False)]))
    made = SinkOutbox(
        tmp_path / "home", tables, tables_app(tables.system, "id BIGINT NOT NULL", upserts=False)
    )
    made.write([("", {"id": None})])
    with pytest.raises(RecordRefusedError):
        made.deliver()
    made.close()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({}, "the catalog lake: its properties (none) make no catalog; type is one of rest, "),
        ({"type": "sql"}, "the catalog lake: its properties (type) make no catalog; type is one of rest, "),
        ({"uri": "lake://me:secret@db"}, "the catalog lake: its properties (uri) make no catalog; type"),
        ({"type": "glue"}, "the catalog lake: AWS glue support not installed: pip install 'pyiceberg[glue]'"),
    ],
)
def test_a_catalog_that_cannot_be_opened_is_refused_without_a_value(
    tables: IcebergTables, settings: dict[str, str], says: str
) -> None:
    sink = open_sink(IcebergConnection("lake", "shop", settings))
    with pytest.raises(InvalidSettingsError, match=re.escape(says)) as refused:
        sink.prepare(SinkTable("sales", (), pa.schema([])))
    assert "secret" not in str(refused.value)


def test_a_client_that_is_not_installed_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, iceberg_sink.__name__)
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog", None)
    with pytest.raises(InvalidSettingsError) as missing:
        open_sink(IcebergConnection("lake", "shop"))
    assert str(missing.value) == "pyiceberg.catalog is not installed; pip install 'streamapp[iceberg]'"

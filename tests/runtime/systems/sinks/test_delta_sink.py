"""A Delta table takes the rows of outboxes as every sink does; somebody else reads them."""

import re
from collections.abc import Callable, Iterator
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

from streamapp.spec.parser import parse_data
from streamapp.spec.serialization import as_data
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints import outbox_delivery
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDeliveries
from streamapp_runtime.systems.sinks import delta_sink
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions, UnavailableError
from tests.harness.engine.sink_outbox import Row, SinkOutbox, tables_app
from tests.runtime.systems.sinks.sink_contract import COLUMNS, SinkContract, all_rows, deliver_all, numbered


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

    def write_as_another(self, table: str, row: Row) -> None:
        delta = self.table(table)
        rows = pa.Table.from_pylist([row], pa.schema(delta.schema()))
        deltalake.write_deltalake(delta, rows, mode="append")


@pytest.fixture
def tables(tmp_path: Path) -> DeltaTables:
    return DeltaTables(tmp_path / "lake")


class TestDelta(SinkContract):
    pass


@pytest.fixture
def outbox(tmp_path: Path, tables: DeltaTables) -> Iterator[SinkOutbox]:
    made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=False))
    yield made
    made.close()


def _calling(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object], times: int = 1) -> None:
    """Call it between the look at the table and the commit, so many times."""
    left = [times]

    def before(point: str) -> None:
        if point == "sink.before" and left[0]:
            left[0] -= 1
            call()

    monkeypatch.setattr(delta_sink, "crash_point", before)


def test_a_commit_of_somebody_else_in_between_is_followed_by_another_attempt(
    outbox: SinkOutbox, tables: DeltaTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(outbox.delivery()) as delivery:
        delivery.take_over()
        outbox.write(numbered(0, 2))
        _calling(monkeypatch, lambda: tables.write_as_another("sales", {"id": 2, "shop": "shop-2"}))
        deliver_all(delivery)
    assert sorted(outbox.rows(), key=str) == all_rows(3)


def test_a_table_that_others_write_without_a_pause_is_waited_for(
    outbox: SinkOutbox, tables: DeltaTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta_sink, "MOST_ATTEMPTS", 3)
    with closing(outbox.delivery()) as delivery:
        delivery.take_over()
        outbox.write(numbered(0, 1))
        _calling(monkeypatch, lambda: tables.write_as_another("sales", {"id": 9, "shop": "other"}), times=3)
        with pytest.raises(UnavailableError, match="3 commits of others came between"):
            delivery.deliver()
        delivery.give_up("others")
        deliver_all(delivery)
    assert [row for row in outbox.rows() if row["id"] == 0] == all_rows(1)


def test_a_driver_that_is_fenced_between_its_look_and_its_commit_adds_nothing(
    outbox: SinkOutbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(outbox.delivery()) as older, closing(outbox.delivery()) as newer:
        older.take_over()
        outbox.write(numbered(0, 3))
        _calling(monkeypatch, newer.take_over)
        with pytest.raises(FencedError):
            older.deliver()
        assert outbox.rows() == []
        deliver_all(newer)
    assert sorted(outbox.rows(), key=str) == all_rows(3)


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
    assert len(tables.table("sales").file_uris()) == 1


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


@pytest.mark.parametrize(
    ("table", "columns", "says"),
    [
        ([("id", pa.int64())], "id BIGINT, shop STRING", '"shop" is missing in the table; ALTER TABLE … ADD'),
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


def test_rows_wait_for_others_to_be_committed_with_until_the_interval_is_over(
    tmp_path: Path, tables: DeltaTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox_delivery, "MOST_RECORDS", 10)
    system = {"delta": {**tables.system["delta"], "commitInterval": "60s"}}
    made = SinkOutbox(tmp_path / "home", tables, tables_app(system, COLUMNS, upserts=False))
    with closing(made.delivery()) as delivery:
        now = [0.0]
        delivery.clock = lambda: now[0]
        delivery.take_over()
        for now[0], rows, is_committed in ((0, 1, False), (59, 2, False), (60, 3, True), (61, 1, False)):
            made.write(numbered(0, rows))
            assert (delivery.deliver(), delivery.status.waiting == 0) == (is_committed, is_committed)
        made.write(numbered(0, 9))
        assert delivery.deliver(), "ten rows wait"
        made.write(numbered(0, 1))
        assert not delivery.deliver()
        delivery.is_draining = True
        assert delivery.deliver()
    made.close()
    assert len(made.rows()) == 17
    assert len(tables.table("sales").file_uris()) == 3


def test_each_table_has_a_delivery_and_positions_of_its_own(tmp_path: Path, tables: DeltaTables) -> None:
    data = as_data(tables_app(tables.system, "id BIGINT", upserts=False))
    data["spec"]["streams"].append({"name": "more", "system": "tables", "columns": "id BIGINT"})
    data["spec"]["operators"].append({"name": "again", "sendTo": {"from": "in", "stream": "more"}})
    made = SinkOutbox(tmp_path / "home", tables, parse_data(data).apps[0])
    made.systems.create("orders.more.outbox", 1, StreamOptions(ours=True))
    made.write([("", {"id": 1})])
    made.write([("", {"id": 2})], stream="more")
    deliveries = OutboxDeliveries(made.app, made.storage.systems)
    deliveries.prepare()
    deliveries.deliver_all()
    deliveries.close()
    made.close()
    assert (tables.rows("sales"), tables.rows("more")) == ([{"id": 1}], [{"id": 2}])

"""What sinks that commit each table by itself must do too: derive from `LakeContract`."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.serialization import as_data
from streamapp_runtime.driver.checkpoints import outbox_delivery
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDeliveries
from streamapp_runtime.systems.sinks import lake_sink
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions, UnavailableError
from tests.harness.engine.sink_outbox import SinkOutbox, TestedTables, tables_app
from tests.runtime.systems.sinks.evolving_contract import EvolvingContract
from tests.runtime.systems.sinks.sink_contract import COLUMNS, all_rows, deliver_all, numbered


class LakeTables(TestedTables, Protocol):
    """Tables of files."""

    def files(self, table: str) -> int:
        """The number of files that the newest state of the table has."""


def calling(monkeypatch: pytest.MonkeyPatch, call: Callable[[], object], times: int = 1) -> None:
    """Call it between the look at the table and the commit, so many times."""
    left = [times]

    def before(point: str) -> None:
        if point == "sink.before" and left[0]:
            left[0] -= 1
            call()

    monkeypatch.setattr(lake_sink, "crash_point", before)


class LakeContract(EvolvingContract):
    def test_a_commit_of_somebody_else_in_between_is_followed_by_another_attempt(
        self, inserts: SinkOutbox, tables: LakeTables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(inserts.delivery()) as delivery:
            delivery.take_over()
            inserts.write(numbered(0, 2))
            calling(monkeypatch, lambda: tables.write_as_another("sales", {"id": 2, "shop": "shop-2"}))
            deliver_all(delivery)
        assert sorted(inserts.rows(), key=str) == all_rows(3)

    def test_a_table_that_others_write_without_a_pause_is_waited_for(
        self, inserts: SinkOutbox, tables: LakeTables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lake_sink, "MOST_ATTEMPTS", 3)
        with closing(inserts.delivery()) as delivery:
            delivery.take_over()
            inserts.write(numbered(0, 1))
            calling(
                monkeypatch, lambda: tables.write_as_another("sales", {"id": 9, "shop": "other"}), times=3
            )
            with pytest.raises(UnavailableError, match="3 commits of others came between"):
                delivery.deliver()
            delivery.give_up("others")
            deliver_all(delivery)
        assert [row for row in inserts.rows() if row["id"] == 0] == all_rows(1)

    def test_a_driver_that_is_fenced_between_its_look_and_its_commit_adds_nothing(
        self, inserts: SinkOutbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with closing(inserts.delivery()) as older, closing(inserts.delivery()) as newer:
            older.take_over()
            inserts.write(numbered(0, 3))
            calling(monkeypatch, newer.take_over)
            with pytest.raises(FencedError):
                older.deliver()
            assert inserts.rows() == []
            deliver_all(newer)
        assert sorted(inserts.rows(), key=str) == all_rows(3)

    def test_rows_wait_for_others_to_be_committed_with_until_the_interval_is_over(
        self, tmp_path: Path, tables: LakeTables, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(outbox_delivery, "MOST_RECORDS", 10)
        system = {kind: {**body, "commitInterval": "60s"} for kind, body in tables.system.items()}
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
        assert tables.files("sales") == 3

    def test_each_table_has_a_delivery_and_positions_of_its_own(
        self, tmp_path: Path, tables: LakeTables
    ) -> None:
        data = as_data(tables_app(tables.system, "id BIGINT", upserts=False))
        data["spec"]["streams"].append({"name": "more", "system": "tables", "columns": "id BIGINT"})
        data["spec"]["operators"].append({"name": "again", "sendTo": {"from": "in", "stream": "more"}})
        made = SinkOutbox(tmp_path / "home", tables, parse_data(data).apps[0])
        made.systems.create("orders.more.outbox", 1, StreamOptions(engine_owned=True))
        made.write([("", {"id": 1})])
        made.write([("", {"id": 2})], stream="more")
        deliveries = OutboxDeliveries(made.app, made.storage.systems)
        deliveries.prepare()
        deliveries.deliver_all()
        deliveries.close()
        made.close()
        assert (tables.rows("sales"), tables.rows("more")) == ([{"id": 1}], [{"id": 2}])

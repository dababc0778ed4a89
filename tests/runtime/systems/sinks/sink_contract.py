"""What every sink must do, as deliveries see it: derive from `SinkContract` and give the fixture `tables`."""

import random
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints import outbox_delivery
from streamapp_runtime.driver.checkpoints.outbox_delivery import OutboxDelivery
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import FencedError, RecordRefusedError, StreamOptions
from tests.harness.engine.sink_outbox import Row, SinkOutbox, TestedTables, tables_app

COLUMNS = "id BIGINT, shop STRING"


class KilledError(BaseException):
    """The end of a delivery, of which it tidies nothing up."""


def numbered(first: int, count: int) -> list[tuple[str, Row | None]]:
    return [(str(n), {"id": n, "shop": f"shop-{n % 3}"}) for n in range(first, first + count)]


def all_rows(count: int) -> list[Row]:
    return sorted([{"id": n, "shop": f"shop-{n % 3}"} for n in range(count)], key=str)


def taken_over_at_once(outbox: SinkOutbox) -> None:
    """Four drivers that start at the same moment; those that are fenced by another one end."""
    together = threading.Barrier(4)

    def start() -> None:
        together.wait()
        with suppress(FencedError):
            outbox.take_over()

    with ThreadPoolExecutor(4) as drivers:
        starts = [drivers.submit(start) for _ in range(4)]
    for started in starts:
        started.result()


def deliver_all(delivery: OutboxDelivery) -> None:
    while delivery.deliver():
        pass


class SinkContract:
    @pytest.fixture
    def inserts(self, tmp_path: Path, tables: TestedTables) -> Iterator[SinkOutbox]:
        made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=False))
        yield made
        made.close()

    @pytest.fixture
    def upserts(self, tmp_path: Path, tables: TestedTables) -> Iterator[SinkOutbox]:
        made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, COLUMNS, "id", upserts=True))
        yield made
        made.close()

    def test_rows_come_once_also_by_several_drivers(self, inserts: SinkOutbox) -> None:
        inserts.write(numbered(0, 3))
        inserts.deliver()
        inserts.deliver()
        inserts.write(numbered(3, 2))
        inserts.deliver()
        assert sorted(inserts.rows(), key=str) == all_rows(5)

    def test_of_each_key_the_last_row_stays_and_a_tombstone_deletes(self, upserts: SinkOutbox) -> None:
        dice, model = random.Random(5), dict[int, Row | None]()  # noqa: S311
        for _ in range(12):
            rows: list[tuple[str, Row | None]] = []
            for _ in range(dice.randrange(1, 30)):
                key = dice.randrange(12)
                row = None if dice.random() < 0.3 else {"id": key, "shop": f"shop-{dice.randrange(99)}"}
                rows.append((str(key), row))
                model[key] = row
            upserts.write(rows)
            upserts.deliver()
            assert sorted(upserts.rows(), key=str) == sorted(filter(None, model.values()), key=str)

    @pytest.mark.parametrize(
        "points",
        [["delivery.before"], ["delivery.after"], ["delivery.after", "delivery.before", "delivery.after"]],
    )
    def test_a_delivery_that_ends_around_its_commit_is_continued_exactly(
        self, inserts: SinkOutbox, monkeypatch: pytest.MonkeyPatch, points: list[str]
    ) -> None:
        monkeypatch.setattr(outbox_delivery, "MOST_RECORDS", 3)
        for number, point in enumerate(points):
            inserts.write(numbered(5 * number, 5))

            def die(name: str, point: str = point) -> None:
                if name == point:
                    raise KilledError

            with monkeypatch.context() as killing:
                killing.setattr(outbox_delivery, "crash_point", die)
                with pytest.raises(KilledError):
                    inserts.deliver()
        inserts.deliver()
        assert sorted(inserts.rows(), key=str) == all_rows(5 * len(points))

    def test_of_two_drivers_the_fenced_one_adds_nothing_more(self, inserts: SinkOutbox) -> None:
        older, newer = inserts.delivery(), inserts.delivery()
        inserts.write(numbered(0, 1))
        deliver_all(older)
        inserts.write(numbered(1, 1))
        newer.take_over()
        with pytest.raises(FencedError):
            older.deliver()
        deliver_all(newer)
        older.give_up("tries again")
        newer.close()
        older.close()
        assert sorted(inserts.rows(), key=str) == all_rows(2)

    def test_drivers_that_start_at_once_make_the_table_once(self, inserts: SinkOutbox) -> None:
        taken_over_at_once(inserts)

    def test_of_two_drivers_that_take_over_again_and_again_each_row_comes_once(
        self, inserts: SinkOutbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(outbox_delivery, "MOST_RECORDS", 7)
        inserts.write(numbered(0, 100))
        failures: list[BaseException] = []

        def serve(seed: int) -> None:
            delivery, dice = inserts.delivery(), random.Random(seed)  # noqa: S311
            try:
                for _ in range(200):
                    try:
                        if not delivery.deliver():
                            return
                    except FencedError:
                        delivery.give_up("fenced")
                        threading.Event().wait(
                            dice.random() / 2
                        )  # or each would fence the other without an end
            except BaseException as error:
                failures.append(error)
            finally:
                delivery.close()

        drivers = [threading.Thread(target=serve, args=(seed,)) for seed in range(2)]
        for driver in drivers:
            driver.start()
        for driver in drivers:
            driver.join()
        inserts.deliver()
        assert failures == []
        assert sorted(inserts.rows(), key=str) == all_rows(100)

    def test_a_table_that_is_ahead_of_a_restored_state_is_refused_and_named(
        self, inserts: SinkOutbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(outbox_delivery, "SHRUNK_SECONDS", 0)
        inserts.write(numbered(0, 2))
        inserts.systems.close()
        shutil.copytree(tmp_path / "home", tmp_path / "copy")
        inserts.write(numbered(2, 3))
        inserts.deliver()
        restored = SinkOutbox(tmp_path / "copy", inserts.tables, inserts.app)
        for spec in ({}, {"onDataLoss": "earliest"}):
            restored.app = tables_app(inserts.tables.system, COLUMNS, "id", upserts=False, **spec)
            with pytest.raises(
                StateUnreadableError, match="tables of tables are ahead of the app, whose state is"
            ):
                restored.take_over()
        restored.close()
        assert sorted(inserts.rows(), key=str) == all_rows(5)

    def test_a_table_with_rows_of_a_state_that_was_deleted_is_refused_before_rows_are_added(
        self, inserts: SinkOutbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(outbox_delivery, "SHRUNK_SECONDS", 0)
        inserts.write(numbered(0, 2))
        inserts.deliver()
        fresh = SinkOutbox(tmp_path / "fresh", inserts.tables, inserts.app)
        with pytest.raises(StateUnreadableError, match="holds 0 to 0, and was delivered up to 2"):
            fresh.take_over()
        fresh.close()
        assert sorted(inserts.rows(), key=str) == all_rows(2)

    def test_a_table_with_rows_of_an_outbox_that_was_made_again_is_refused(self, inserts: SinkOutbox) -> None:
        inserts.write(numbered(0, 2))
        inserts.deliver()
        assert isinstance(inserts.systems.home, EmbeddedSystem)
        inserts.systems.home.delete(inserts.outbox)
        inserts.systems.create(inserts.outbox, 1, StreamOptions(engine_owned=True))
        inserts.write(numbered(2, 3))
        for attempt in (inserts.take_over, inserts.deliver):
            with pytest.raises(StateUnreadableError, match='"sales" has rows of another outbox'):
                attempt()
        assert sorted(inserts.rows(), key=str) == all_rows(2)

    def test_commits_of_others_in_between_change_nothing(
        self, upserts: SinkOutbox, tables: TestedTables
    ) -> None:
        delivery = upserts.delivery()
        upserts.write(numbered(0, 1))
        deliver_all(delivery)
        tables.write_as_another("sales", {"id": 1, "shop": "shop-1"})
        upserts.write(numbered(2, 1))
        deliver_all(delivery)
        delivery.close()
        assert sorted(upserts.rows(), key=str) == all_rows(3)

    def test_rows_of_every_type_come_as_they_are(self, tmp_path: Path, tables: TestedTables) -> None:
        columns = (
            "id STRING, small TINYINT, short SMALLINT, number INT, large BIGINT, ratio FLOAT, exact DOUBLE, "
            "price DECIMAL(12, 2), is_open BOOLEAN, bytes BINARY, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ"
        )
        made = SinkOutbox(tmp_path / "home", tables, tables_app(tables.system, columns, "id", upserts=True))
        row = {"id": "", "small": -128, "short": -32768, "number": 2**31 - 1, "large": -(2**63), "ratio": 0.5}
        row |= {
            "exact": 1e-300,
            "price": -1234567890.12,
            "is_open": False,
            "bytes": "AP8i",
            "day": "0001-01-01",
        }
        row |= {"at": "2026-11-29T12:00:00.123456Z", "local": "1900-01-01T00:00:00"}
        none = {"id": "none"} | dict.fromkeys([name for name in row if name != "id"])
        made.write([("", row), ("none", none)])
        made.deliver()
        nulls, first = sorted(tables.rows("sales"), key=lambda each: each["id"], reverse=True)
        made.close()
        assert nulls == none
        assert {name: str(value) for name, value in first.items()} == {
            **{name: str(value) for name, value in row.items()},
            "bytes": str(b'\x00\xff"'),
            "at": "2026-11-29 12:00:00.123456+00:00",
            "local": "1900-01-01 00:00:00",
        }

    def test_a_row_that_is_deleted_from_a_table_that_only_grows_ends_the_delivery(
        self, inserts: SinkOutbox
    ) -> None:
        inserts.write([*numbered(0, 1), ("0", None)])
        with pytest.raises(RecordRefusedError, match='table "sales": a row is deleted, and a table without'):
            inserts.deliver()

    def test_a_table_that_is_not_there_is_refused_unless_it_may_be_created(
        self, tmp_path: Path, tables: TestedTables
    ) -> None:
        system = {kind: {**body, "createIfMissing": False} for kind, body in tables.system.items()}
        made = SinkOutbox(tmp_path / "home", tables, tables_app(system, COLUMNS, upserts=False))
        with pytest.raises(AppRefusedError, match=r'spec\.streams\[1\]\.columns: there is no table "sales"'):
            made.take_over()
        made.close()

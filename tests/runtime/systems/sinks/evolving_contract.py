"""What sinks that give tables columns must do too: derive from `EvolvingContract`."""

from contextlib import closing
from pathlib import Path

import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from tests.harness.engine.sink_outbox import Row, SinkOutbox, TestedTables, tables_app
from tests.runtime.systems.sinks.sink_contract import (
    COLUMNS,
    SinkContract,
    all_rows,
    numbered,
    taken_over_at_once,
)

MORE = f"{COLUMNS}, city STRING, price DECIMAL(9, 2)"


def outbox(
    folder: Path,
    tables: TestedTables,
    columns: str,
    *,
    key: str = "id",
    upserts: bool = False,
    evolve: str = "add",
) -> SinkOutbox:
    system = {kind: {**body, "evolve": evolve} for kind, body in tables.system.items()}
    return SinkOutbox(folder / "home", tables, tables_app(system, columns, key, upserts=upserts))


def with_more(row: Row) -> Row:
    """The row in a table that was given columns: files that were written before do not have them."""
    return {"city": None, "price": None} | {
        name: value if name in {"id", "city"} or value is None else str(value) for name, value in row.items()
    }


def sorted_rows(made: SinkOutbox) -> list[Row]:
    return sorted(map(with_more, made.rows()), key=lambda row: row["id"])


class EvolvingContract(SinkContract):
    @pytest.mark.parametrize("upserts", [False, True])
    def test_columns_that_the_table_lacks_are_added_before_the_start(
        self, tmp_path: Path, tables: TestedTables, upserts: bool
    ) -> None:
        with closing(outbox(tmp_path, tables, COLUMNS, upserts=upserts)) as before:
            before.write(numbered(0, 2))
            before.deliver()
            before.write(numbered(2, 1))  # which waits, and is delivered when the table has more columns
        with closing(outbox(tmp_path, tables, MORE, upserts=upserts)) as after:
            after.write([("3", {"id": 3, "shop": "shop-0", "city": "Oslo", "price": 1.5})])
            if upserts:
                after.write([("0", {"id": 0, "shop": "shop-0", "city": "Rome", "price": 2})])
            after.deliver()
            first = {"city": "Rome", "price": "2.00"} if upserts else {}
            assert sorted_rows(after) == [
                with_more(all_rows(1)[0]) | first,
                *map(with_more, all_rows(3)[1:]),
                {"id": 3, "shop": "shop-0", "city": "Oslo", "price": "1.50"},
            ]

    def test_a_column_that_is_never_null_here_may_be_null_in_the_table(
        self, tmp_path: Path, tables: TestedTables
    ) -> None:
        with closing(outbox(tmp_path, tables, COLUMNS)) as before:
            before.write(numbered(0, 1))
            before.deliver()
        with closing(outbox(tmp_path, tables, f"{COLUMNS}, city STRING NOT NULL")) as after:
            after.write([("1", {"id": 1, "shop": "shop-1", "city": "Oslo"})])
            after.deliver()
            assert [row["city"] for row in sorted_rows(after)] == [None, "Oslo"]

    def test_without_evolve_a_missing_column_is_refused_with_both_fixes(
        self, tmp_path: Path, tables: TestedTables
    ) -> None:
        with closing(outbox(tmp_path, tables, COLUMNS)) as before:
            before.take_over()
        refusal = r'"city" is missing in the table; say evolve: add, or ALTER TABLE .* ADD COLUMN .city. '
        with (
            closing(outbox(tmp_path, tables, MORE, evolve="none")) as after,
            pytest.raises(AppRefusedError, match=refusal),
        ):
            after.take_over()

    @pytest.mark.parametrize(
        ("columns", "key", "upserts", "refusal"),
        [
            ("id BIGINT, shop BIGINT, city STRING", "id", False, r'"shop" is .* cast it in a map'),
            (
                "id BIGINT, Shop STRING, city STRING",
                "id",
                False,
                r'"Shop" is "shop" in the table; spell it so',
            ),
            ("code STRING, id BIGINT, city STRING", "code", True, r'"code" of the primary key is missing in'),
        ],
        ids=["another type", "another letter case", "a primary key"],
    )
    def test_a_table_that_is_refused_all_the_same_gets_no_column(
        self, tmp_path: Path, tables: TestedTables, columns: str, key: str, upserts: bool, refusal: str
    ) -> None:
        with closing(outbox(tmp_path, tables, COLUMNS)) as before:
            before.take_over()
        with (
            closing(outbox(tmp_path, tables, columns, key=key, upserts=upserts)) as after,
            pytest.raises(AppRefusedError, match=refusal),
        ):
            after.take_over()
        with closing(outbox(tmp_path, tables, f"{COLUMNS}, city INT")) as later:
            later.take_over()  # there was no column of this name yet, of another type

    def test_drivers_that_start_at_once_add_the_columns_once(
        self, tmp_path: Path, tables: TestedTables
    ) -> None:
        with closing(outbox(tmp_path, tables, COLUMNS)) as before:
            before.write(numbered(0, 1))
            before.deliver()
        with closing(outbox(tmp_path, tables, MORE)) as after:
            taken_over_at_once(after)
            after.write([("1", {"id": 1, "shop": "shop-1", "city": "Oslo", "price": None})])
            after.deliver()
            assert [row["city"] for row in sorted_rows(after)] == [None, "Oslo"]

    def test_an_app_that_writes_fewer_columns_again_leaves_the_others_null(
        self, tmp_path: Path, tables: TestedTables
    ) -> None:
        with closing(outbox(tmp_path, tables, MORE)) as before:
            before.write([("0", {"id": 0, "shop": "shop-0", "city": "Oslo", "price": 1})])
            before.deliver()
        with closing(outbox(tmp_path, tables, COLUMNS)) as after:
            after.write(numbered(1, 1))
            after.deliver()
            assert [row["city"] for row in sorted_rows(after)] == ["Oslo", None]

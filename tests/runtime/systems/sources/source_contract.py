"""What every source must do, as imports see it: derive from a contract and give the fixture `tables`."""

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from tests.harness.engine.imported_table import ImportedApp, Row, SourceTables

COLUMNS = (
    "id BIGINT, name STRING, price DECIMAL(10, 2), ok BOOLEAN, at TIMESTAMP, local TIMESTAMP_NTZ, day DATE, "
    "ratio DOUBLE, raw BINARY"
)
TYPES: list[tuple[str, pa.DataType]] = [
    ("id", pa.int64()),
    ("name", pa.string()),
    ("price", pa.decimal128(10, 2)),
    ("ok", pa.bool_()),
    ("at", pa.timestamp("us", "UTC")),
    ("local", pa.timestamp("us")),
    ("day", pa.date32()),
    ("ratio", pa.float64()),
    ("raw", pa.binary()),
]
NOON = datetime(2026, 1, 31, 12, 0, 0, 123456)  # noqa: DTZ001
ROWS: list[Row] = [
    dict(
        zip(
            dict(TYPES),
            (
                1,
                'ünï "x"',
                Decimal("1.50"),
                True,
                NOON.replace(tzinfo=UTC),
                NOON,
                NOON.date(),
                0.1,
                b"ab",
            ),
            strict=True,
        )
    ),
    dict.fromkeys(dict(TYPES)) | {"id": 2},
    dict.fromkeys(dict(TYPES)) | {"id": -(2**63), "price": Decimal("-99999999.99"), "ratio": 1e300},
]
Made = Callable[..., ImportedApp]


def table(rows: list[Row] = ROWS, types: list[tuple[str, pa.DataType]] = TYPES) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(types))


def numbered(count: int) -> pa.Table:
    return pa.table({"id": pa.array(range(count), pa.int64())})


class SourceContract:
    def test_rows_come_as_they_are(self, tables: SourceTables, made: Made) -> None:
        tables.write("sales", table())
        app = made()
        app.start()
        assert sorted(app.rows(), key=lambda row: row["id"]) == sorted(ROWS, key=lambda row: row["id"])

    def test_an_empty_table_has_no_rows(self, tables: SourceTables, made: Made) -> None:
        tables.write("sales", table([]))
        app = made()
        assert [span.end for span in app.start().spans] == [0]

    def test_other_columns_of_the_table_are_left_out(self, tables: SourceTables, made: Made) -> None:
        tables.write("sales", table())
        app = made("name STRING, id BIGINT")
        app.start()
        assert {"name": 'ünï "x"', "id": 1} in app.rows()

    def test_many_rows_come_once_and_to_the_partitions_of_their_keys(
        self, tables: SourceTables, made: Made
    ) -> None:
        tables.write("sales", numbered(120_000))
        app = made("id BIGINT", key="id", partitions=4)
        imported = app.start()
        assert sum(span.end - span.oldest for span in imported.spans) >= 120_000
        assert sorted(row["id"] for row in app.rows()) == list(range(120_000))
        assert {record["key"] for _, record in app.records()} == {b"%d" % n for n in range(120_000)}
        assert len({index for index, _ in app.records()}) == 4

    def test_a_table_that_is_not_there_is_refused(self, made: Made) -> None:
        with pytest.raises(AppRefusedError, match=r"spec.streams\[0\].topic: there .*; correct topic"):
            made().start()


class NamedContract(SourceContract):
    """Of sources whose columns have names, too."""

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ("id BIGINT, more STRING", '"more" is missing in the table'),
            ("ID BIGINT", '"ID" is "id" in the table; spell it so in columns'),
        ],
    )
    def test_a_column_that_is_not_there_is_refused(
        self, tables: SourceTables, made: Made, columns: str, message: str
    ) -> None:
        tables.write("sales", table())
        with pytest.raises(AppRefusedError) as refused:
            made(columns).start()
        assert f"spec.streams[0].columns: {message}" in str(refused.value)


class TypedContract(NamedContract):
    """Of sources whose columns have types, too."""

    @pytest.mark.parametrize(
        "columns",
        ["id INT", "id STRING", "name BIGINT", "price DECIMAL(9, 2)", "at TIMESTAMP_NTZ", "local TIMESTAMP"],
    )
    def test_a_column_whose_values_another_type_does_not_hold_is_refused(
        self, tables: SourceTables, made: Made, columns: str
    ) -> None:
        tables.write("sales", table())
        with pytest.raises(AppRefusedError, match=rf'"{columns.split(maxsplit=1)[0]}" is .* in the table'):
            made(columns).start()

    def test_a_wider_type_holds_the_values(self, tables: SourceTables, made: Made) -> None:
        types = [("n", pa.int32()), ("x", pa.float32()), ("d", pa.decimal128(5, 1))]
        tables.write("sales", table([{"n": -7, "x": 0.5, "d": Decimal("1.5")}], types))
        app = made("n BIGINT, x DOUBLE, d DECIMAL(12, 3)")
        app.start()
        assert app.rows() == [{"n": -7, "x": 0.5, "d": Decimal("1.500")}]


class NullsContract(TypedContract):
    """Of sources that say which columns may be null, too."""

    def test_a_column_that_may_be_null_is_refused_where_it_may_not(
        self, tables: SourceTables, made: Made
    ) -> None:
        tables.write("sales", table())
        with pytest.raises(AppRefusedError, match='"id" may be null in the table; leave NOT NULL out'):
            made("id BIGINT NOT NULL").start()

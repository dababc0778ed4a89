"""Tables and views of PostgreSQL are read as every source is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import pyarrow as pa
import pytest

from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.sinks.postgres_tables import own_type
from streamapp_runtime.systems.stream_system import UnavailableError
from tests.harness.machine.postgres_server import USER, PostgresDatabase, PostgresServer
from tests.runtime.systems.sources.source_contract import Made, NullsContract, numbered


@dataclass(frozen=True, slots=True)
class Database(PostgresDatabase):
    """A database whose tables are read."""

    @property
    def system(self) -> dict[str, Any]:
        return {"postgres": self.settings}

    def write(self, table: str, rows: pa.Table) -> None:
        columns = [f'"{one.name}" {own_type(one.type)}' for one in rows.schema]
        self.execute(f"DROP TABLE IF EXISTS {table}")
        self.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        exact = [self._text(column) for column in rows.columns]
        staged = pa.Table.from_arrays(exact, rows.column_names)
        host, port = self.server.address.split(":")
        text = f"host={host} port={port} dbname={self.name} user={USER}"
        with adbc.connect(text, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("staged", staged, mode="replace")
        casts = [f'"{one.name}"::{own_type(one.type)}' for one in rows.schema]
        self.execute(f"INSERT INTO {table} SELECT {', '.join(casts)} FROM staged")

    def _text(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        return column.cast(pa.string()) if pa.types.is_decimal(column.type) else column


@pytest.fixture
def tables(postgres_server: PostgresServer) -> Database:
    return Database(postgres_server)


class TestPostgresSource(NullsContract):
    pass


@pytest.mark.parametrize(
    ("columns", "statements", "rows"),
    [
        (
            "id STRING, doc STRING, tiny TINYINT, total DECIMAL(6, 2)",
            [
                "CREATE TABLE sales (id uuid, doc jsonb, tiny smallint, total numeric)",
                "INSERT INTO sales VALUES ('6f3c0b0e-0000-4000-8000-000000000000', '{\"a\": 1}', 7, 1.5)",
            ],
            ("6f3c0b0e-0000-4000-8000-000000000000", '{"a": 1}', 7),
        ),
        (
            "id STRING, n BIGINT, at TIMESTAMP",
            [
                "CREATE TABLE base (id varchar(9), n int, at timestamptz(3))",
                "INSERT INTO base VALUES ('a', 1, '2026-01-31T12:00:00Z')",
                "CREATE VIEW sales AS SELECT * FROM base",
            ],
            ("a", 1),
        ),
    ],
)
def test_other_types_that_hold_nothing_else_are_read_and_views_are(
    tables: Database, made: Made, columns: str, statements: Sequence[str], rows: tuple[Any, ...]
) -> None:
    for statement in statements:
        tables.execute(statement)
    app = made(columns)
    app.start()
    (row,) = app.rows()
    assert tuple(row.values())[: len(rows)] == rows


@pytest.mark.parametrize(
    ("columns", "kind", "value"),
    [
        ("n TINYINT", "smallint", "300"),
        ("n DECIMAL(4, 2)", "numeric", "1.234"),
        ("n TIMESTAMP", "timestamptz", "'infinity'"),
        ("n TIMESTAMP_NTZ", "timestamp", "'-infinity'"),
        ("n DATE", "date", "'infinity'"),
    ],
)
def test_a_value_that_does_not_fit_ends_the_run_and_its_column_is_named(
    tables: Database, made: Made, columns: str, kind: str, value: str
) -> None:
    tables.execute(f"CREATE TABLE sales (n {kind})")
    tables.execute(f"INSERT INTO sales VALUES ({value})")
    with pytest.raises(FinalFailureError, match=r'"in" cannot be imported: .*/sales: "n": '):
        made(columns).start()


def test_a_database_that_is_unavailable_is_an_outage(
    tables: Database, made: Made, postgres_server: PostgresServer
) -> None:
    tables.write("sales", numbered(3))
    app = made("id BIGINT")
    postgres_server.end()
    try:
        with pytest.raises(UnavailableError, match=postgres_server.address):
            app.start()
    finally:
        postgres_server.start()
    app.start()
    assert len(app.rows()) == 3


def test_a_database_that_goes_while_it_is_read_is_an_outage(
    tables: Database, made: Made, postgres_server: PostgresServer
) -> None:
    tables.execute(
        "CREATE TABLE sales AS SELECT n AS id, repeat('x', 90) AS x FROM generate_series(1, 2000000) n"
    )
    app = made("id BIGINT, x STRING")
    try:
        with pytest.raises(UnavailableError, match=postgres_server.address):
            app.start(lambda _: postgres_server.end())
    finally:
        postgres_server.start()
    tables.execute("DELETE FROM sales WHERE id > 5")
    app.start()
    assert sorted(row["id"] for row in app.rows()) == [1, 2, 3, 4, 5]

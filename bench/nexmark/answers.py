"""The answers of DuckDB to the Nexmark queries, compared row by row with what an app has written."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from bench.nexmark.event_numbers import EventModel
from bench.nexmark.event_records import BLOCK
from bench.nexmark.events import events, side_input
from bench.nexmark.nexmark_queries import NexmarkQuery

SHOWN = 3
"""So many rows of each kind of difference are shown."""
SIDES = {"not expected": "actual EXCEPT ALL FROM expected", "missing": "expected EXCEPT ALL FROM actual"}


@dataclass(frozen=True, slots=True)
class RowDifferences:
    """How many rows an app has written, how many of them are wrong or missing, and some of these."""

    written: int
    unexpected: int
    missing: int
    shown: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.unexpected or self.missing)

    def __str__(self) -> str:
        wrong = f"{self.unexpected:,} of {self.written:,} rows are not expected"
        return "\n".join((f"{wrong}, {self.missing:,} are missing", *self.shown))


@dataclass(frozen=True, slots=True)
class Answers:
    """All events up to one, as tables of DuckDB."""

    connection: duckdb.DuckDBPyConnection

    def differences(
        self, query: NexmarkQuery, values: pa.ChunkedArray, compared: str = "true"
    ) -> RowDifferences:
        """What an app wrote, as JSON in the order of each partition, beside the answer of SQL.

        Rows for which the condition does not hold are not compared.
        """
        run = self.connection.execute
        columns = run(f"DESCRIBE {query.sql}").fetchall()
        typed = ", ".join(f"CAST(value->>'{name}' AS {kind}) AS \"{name}\"" for name, kind, *_ in columns)
        newest = f"row_number() OVER (PARTITION BY {query.updated_by} ORDER BY place DESC) = 1"
        newest = f"QUALIFY {newest}" if query.updated_by else ""
        names = ", ".join(f'"{name}"' for name, *_ in columns)
        output = pa.table({"place": np.arange(len(values)), "value": values.cast(pa.string())})
        self.connection.register("output", output)
        run(f"CREATE OR REPLACE TEMP TABLE typed AS SELECT place, {typed} FROM output")
        run(f"CREATE OR REPLACE TEMP TABLE actual AS SELECT {names} FROM typed WHERE {compared} {newest}")
        run(f"CREATE OR REPLACE TEMP TABLE expected AS FROM ({query.sql}) WHERE {compared}")
        counts: dict[str, int] = {}
        shown: list[str] = []
        for kind, rows in SIDES.items():
            counts[kind] = self._count(f"(FROM {rows})")
            some = run(f"FROM {rows} ORDER BY ALL LIMIT {SHOWN}").fetchall()
            shown += [f"{kind}: {row}" for row in some]
        return RowDifferences(self._count("actual"), counts["not expected"], counts["missing"], tuple(shown))

    def _count(self, rows: str) -> int:
        (count,) = self.connection.execute(f"SELECT count(*) FROM {rows}").fetchall()
        return int(count[0])


@contextmanager
def answers(first: int, end: int, model: EventModel | None = None) -> Iterator[Answers]:
    """Answers over the events from one number to another, exclusive."""
    with duckdb.connect(config={"threads": "2"}) as connection:
        for start in range(first, end, BLOCK):
            for stream, rows in events(start, min(start + BLOCK, end), model).items():
                _insert(connection, stream, rows)
        _insert(connection, "side_input", side_input())
        yield Answers(connection)


def _insert(connection: duckdb.DuckDBPyConnection, stream: str, rows: pa.RecordBatch) -> None:
    """Times in UTC become times without a zone, which is what the queries are about."""
    fields = (
        field.with_type(pa.timestamp("us")) if pa.types.is_timestamp(field.type) else field
        for field in rows.schema
    )
    connection.register("rows", pa.table(rows).cast(pa.schema(list(fields))))
    connection.execute(f"CREATE TABLE IF NOT EXISTS {stream} AS FROM rows LIMIT 0")
    connection.execute(f"INSERT INTO {stream} FROM rows")

"""Changes that Debezium's own engine makes of a real PostgreSQL, read by apps and held against a SELECT."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pytest

from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.testing.in_process_app import InProcessApp
from tests.harness.debezium.change_engines import Change, ChangeEngines, change_engines
from tests.harness.kafka.apicurio import apicurio
from tests.harness.machine.postgres_server import PostgresDatabase, PostgresServer

pytestmark = pytest.mark.usefixtures("process")
ENGINES: Final = {
    "adaptive": {},
    "plain": {
        "decimal.handling.mode": "string",
        "time.precision.mode": "connect",
        "hstore.handling.mode": "map",
    },
    "nanoseconds": {"time.precision.mode": "nanoseconds"},
    "isostring": {"time.precision.mode": "isostring"},
}
LONG: Final = {
    "texts": "STRING",
    "raw": "BINARY",
    "doc": "STRING",
    "tags": "ARRAY<STRING>",
    "nums": "ARRAY<INT>",
    "bigs": "ARRAY<BIGINT>",
    "uids": "ARRAY<STRING>",
    "hs": "STRING",
}
TABLES: Final = [
    "CREATE EXTENSION hstore",
    """CREATE TABLE things (id int PRIMARY KEY, small smallint, big bigint, name text NOT NULL,
       short varchar(20), price numeric(9,2), at timestamp, seen timestamptz, born date, raw bytea,
       doc json, docb jsonb, uid uuid, tags text[], nums int[], bigs bigint[], ok boolean, r real,
       d double precision, tod time, span interval, code char(3))""",
    """CREATE TABLE long (id int PRIMARY KEY, n int, texts text, raw bytea, doc jsonb, tags text[],
       nums int[], bigs bigint[], uids uuid[], hs hstore)""",
    "CREATE TABLE emptied (id int PRIMARY KEY)",
    "CREATE TABLE done (id int PRIMARY KEY)",
    *(f"ALTER TABLE long ALTER COLUMN {name} SET STORAGE EXTERNAL"
      for name in LONG),
]  # fmt: skip
WHOLE: Final = """INSERT INTO things VALUES ({0}, -3, 9007199254740993, 'n{0} \u00e4"\\', 'v', {0}.50,
    '2026-01-31 12:00:00.123456', '2026-01-31 12:00:00.123456+02', '1969-12-31', '\\x00ff61', '{{"a": [1]}}',
    '{{"b": null}}', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', ARRAY['x', NULL, 'y"z'], ARRAY[1, NULL, -2],
    ARRAY[9007199254740993], true, 1.5, 0.1, '12:34:56.789', '1 day 2 hours', 'ab')"""
SNAPSHOT: Final = [
    *(WHOLE.format(number) for number in range(1, 6)),
    "INSERT INTO things (id, name, tags) VALUES (6, '', '{}')",
    """INSERT INTO long VALUES (1, 0, repeat('x', 9000), decode(repeat('00', 9000), 'hex'),
       json_build_array(repeat('y', 9000)), ARRAY[repeat('z', 9000)], array_fill(7, ARRAY[9000]),
       array_fill(8, ARRAY[9000]), array_fill('f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::uuid, ARRAY[900]),
       hstore('k', repeat('h', 9000)))""",
]
LATER: Final = [
    WHOLE.format(7),
    "INSERT INTO things (id, name) VALUES (8, 'only a name')",
    "UPDATE things SET name = 'new', price = -0.01, tags = NULL, born = '9999-12-31' WHERE id = 1",
    "DELETE FROM things WHERE id = 2",
    "UPDATE things SET id = 30 WHERE id = 3",
    "DELETE FROM things WHERE id = 4",
    WHOLE.format(4),
    "DO $$ BEGIN UPDATE things SET small = 1 WHERE id = 5; UPDATE things SET small = 2 WHERE id = 5; END $$",
    """DO $$ BEGIN UPDATE things SET small = 9 WHERE id = 6; RAISE EXCEPTION 'taken back';
       EXCEPTION WHEN OTHERS THEN NULL; END $$""",
    "UPDATE long SET n = 1",
    "INSERT INTO emptied VALUES (1)",
    "TRUNCATE emptied",
    "INSERT INTO done VALUES (1)",
]
COLUMNS: Final = (
    "id INT NOT NULL, small SMALLINT, big BIGINT, name STRING NOT NULL, short STRING, price DECIMAL(9,2), "
    "at TIMESTAMP_NTZ, seen TIMESTAMP, born DATE, raw BINARY, doc STRING, docb STRING, uid STRING, "
    "tags ARRAY<STRING>, nums ARRAY<INT>, bigs ARRAY<BIGINT>, ok BOOLEAN, r FLOAT, d DOUBLE, tod BIGINT, "
    "span BIGINT, code STRING"
)
COLUMNS_OF_CONNECT: Final = COLUMNS.replace("DECIMAL(9,2)", "STRING").replace("TIMESTAMP_NTZ", "TIMESTAMP")
"""The same in Avro, where the schemas have Connect's types."""
COLUMNS_OF_TEXTS: Final = COLUMNS.replace("tod BIGINT", "tod STRING")
SELECT: Final = """SELECT id, small, big, name, short, price::text, date_trunc('{unit}', at), seen, born, raw,
    doc::text, docb::text, uid::text, tags, nums, bigs, ok, r, d,
    {tod}, (extract(epoch FROM span) * 1000000)::bigint, code
    FROM things"""
OF_DAY: Final = "(extract(epoch FROM tod) * {})::bigint"
UNITS: Final = {
    "adaptive": ("microseconds", OF_DAY.format(1_000_000)),
    "plain": ("milliseconds", OF_DAY.format(1_000)),
    "nanoseconds": ("microseconds", OF_DAY.format(1_000_000_000)),
    "isostring": ("microseconds", "tod || 'Z'"),
}
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "adaptive": {"decimals": "base64", "timestamps": "microseconds"},
    "plain": {"decimals": "text", "timestamps": "milliseconds"},
    "nanoseconds": {"decimals": "base64", "timestamps": "nanoseconds"},
    "isostring": {"decimals": "base64", "timestamps": "isostring"},
}
CASES: Final = [
    (engine, form) for engine in ENGINES for form in ("json", "json-with-schema", "flattened", "avro")
]


@dataclass(frozen=True, slots=True)
class Captured:
    """What the engines made of all changes, and the database and the registry as they are behind these."""

    changes: dict[tuple[str, str], list[Change]]
    database: PostgresDatabase
    registry: str

    def of(self, engine: str, form: str, table: str) -> list[Change]:
        return [each for each in self.changes[engine, form] if each.topic == f"{engine}.public.{table}"]


@pytest.fixture(scope="module")
def captured(postgres_server: PostgresServer) -> Iterator[Captured]:
    database = PostgresDatabase(postgres_server)
    for statement in (*TABLES, *SNAPSHOT):
        database.execute(statement)
    with apicurio() as registry:
        own = registry.replace("/ccompat/v7", "/registry/v2")
        with change_engines(database, ENGINES, own) as engines:
            _make_changes(engines, database)
        yield Captured(engines.changes, database, registry)


def _make_changes(engines: ChangeEngines, database: PostgresDatabase) -> None:
    engines.read_snapshots(len(SNAPSHOT))
    for statement in LATER:
        database.execute(statement)
    engines.read_all()


def app(captured: Captured, engine: str, form: str, columns: str) -> InProcessApp:
    kafka = {"bootstrapServers": "kafka:9092", "schemaRegistry": {"url": captured.registry}}
    options = {"registry": True} if form == "avro" else OPTIONS[engine]
    changes = {"name": "changes", "format": "debezium", "key": "id", "columns": columns, **options}
    changes["flattened"] = form == "flattened"
    streams = [changes, {"name": "asked", "key": "id", "columns": "id INT"}, {"name": "out"}, {"name": "bad"}]
    spec = {
        "systems": [{"name": "main", "kafka": kafka}],
        "streams": [{"system": "main", **stream} for stream in streams],
        "tables": [{"name": "rows", "broadcast": True, "sideInputs": [{"stream": "changes"}]}],
        "operators": [
            {"name": "found", "joinTable": {"from": "asked", "table": "rows", "select": "id"}},
            {"name": "sent", "sendTo": {"from": "found", "stream": "out"}},
        ],
        "onBadRecord": {"action": "deadLetter", "stream": "bad"},
    }
    document = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}}
    return InProcessApp(json.dumps({**document, "spec": spec}, indent=1))


def send(running: InProcessApp, changes: list[Change]) -> None:
    keys, values = ([each[part] for each in changes] for part in (1, 2))
    arrays = [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), pa.array([running.now] * len(keys))]
    running.send_records({"changes": pa.RecordBatch.from_arrays(arrays, schema=RECORDS)})


@pytest.mark.parametrize(("engine", "form"), CASES)
def test_the_table_that_changes_fill_is_the_table_of_the_database(
    captured: Captured, engine: str, form: str
) -> None:
    unit, tod = UNITS[engine]
    names = [part.split()[0] for part in COLUMNS.split(", ")]
    rows = captured.database.execute(SELECT.format(unit=unit, tod=tod))
    wanted = {str(row[0]): dict(zip(names, row, strict=True)) for row in rows}
    columns = COLUMNS_OF_CONNECT if (engine, form) == ("plain", "avro") else COLUMNS
    columns = COLUMNS_OF_TEXTS if engine == "isostring" else columns
    with app(captured, engine, form, columns) as running:
        send(running, captured.of(engine, form, "things"))
        assert running.bad() == []
        table = running.table("rows")
    for row in table.values():
        row["price"] = row["price"] and str(row["price"])
        row["at"] = row["at"] and row["at"].replace(tzinfo=None)
    assert table == wanted
    assert len(wanted) == 7


@pytest.mark.parametrize("form", ["json", "avro"])
def test_a_truncated_table_is_a_bad_record(captured: Captured, form: str) -> None:
    with app(captured, "adaptive", form, "id INT NOT NULL") as running:
        send(running, captured.of("adaptive", form, "emptied"))
        assert [bad.reason.partition(":")[0] for bad in running.bad()] == ['op "t"']


@pytest.mark.parametrize(("engine", "form"), CASES)
def test_long_values_that_the_database_does_not_say_are_bad_records(
    captured: Captured, engine: str, form: str
) -> None:
    kinds = LONG | ({"hs": "MAP<STRING, STRING>"} if engine == "plain" else {})
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    with app(captured, engine, form, f"id INT NOT NULL, n INT, {columns}") as running:
        send(running, captured.of(engine, form, "long")[:1])
        row = running.table("rows")["1"]
        assert [bool(row[name]) for name in kinds] == [True] * len(kinds)
    for name, kind in kinds.items():
        with app(captured, engine, form, f"id INT NOT NULL, n INT, {name} {kind}") as running:
            send(running, captured.of(engine, form, "long"))
            (reason,) = [bad.reason for bad in running.bad()] or ["none"]
            assert reason.startswith(f'{name}: "__debezium_unavailable_value": the database did not say'), (
                name
            )
            assert running.table("rows")["1"]["n"] == 0

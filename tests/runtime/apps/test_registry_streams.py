"""Apps whose records name schemas of a registry, which may be away."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from streamapp.spec.reasons import Reason
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.testing.in_process_app import InProcessApp
from streamapp_runtime.testing.kit_errors import AppFailedError
from tests.harness.core.app_resources import app_resource, registry_system
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")
USERS = {"type": "record", "name": "User", "fields": [{"name": "user", "type": "string"}]}
GUID = UUID("89791762-2336-4186-9674-299b90a802e2")
ANN, BOB, UNKNOWN = b"\0\0\0\0\x07\x06ann", b"\0\0\0\0\x07\x06bob", b"\0\0\0\0\x08\x06cyd"


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        registry.register(7, USERS)
        yield registry


def app(url: str, **spec: Any) -> str:
    users = {"name": "users", "format": "avro", "registry": True, "columns": "user STRING"}
    streams = [users, {"name": "out"}, {"name": "bad"}]
    operators = [
        {"name": "big", "map": {"from": "users", "select": "upper(user) AS user"}},
        {"name": "sent", "sendTo": {"from": "big", "stream": "out"}},
    ]
    parts = {"operators": operators, "streams": streams, **spec}
    return json.dumps(app_resource(**parts, system=registry_system(url)), indent=1)


def test_an_app_waits_for_a_registry_that_is_away_and_loses_nothing(server: SchemaServer) -> None:
    server.next_answers = [(503, "starting")] * 12
    with InProcessApp(app(server.url)) as running:
        running.send("users", [ANN, BOB])
        assert running.rows("out") == [{"user": "ANN"}, {"user": "BOB"}]
        assert running.size("bad") == 0
        waited = (
            f"the schema registry cannot be asked: {server.url}: GET /schemas/ids/7: 503 Service Unavailable"
        )
        assert waited in running._troubles[0]
    assert server.paths == ["/schemas/ids/7"] * 13


def test_a_record_of_an_unknown_schema_is_left_out_with_its_place_and_id(server: SchemaServer) -> None:
    with InProcessApp(app(server.url, onBadRecord={"action": "deadLetter", "stream": "bad"})) as running:
        running.send("users", [ANN, UNKNOWN, b'{"user": "dan"}', BOB])
        assert running.rows("out") == [{"user": "ANN"}, {"user": "BOB"}]
        (letter, _) = [(bad.stream, bad.partition, bad.offset, bad.reason) for bad in running.bad()]
        reason = "schema id 8: the registry says: Schema not found"
        assert letter == ("users", 0, 1, reason)


def test_a_header_names_the_schema_of_a_record(server: SchemaServer) -> None:
    server.register(GUID, USERS)
    with InProcessApp(app(server.url)) as running:
        running.send("users", ANN[5:], headers={"__value_schema_id": b"\x01" + GUID.bytes})
        running.send("users", BOB)
        assert running.rows("out") == [{"user": "ANN"}, {"user": "BOB"}]
    assert server.paths == [f"/schemas/guids/{GUID}", "/schemas/ids/7"]


def writing(server: SchemaServer, out: dict[str, Any], select: str = "user, n") -> str:
    users = {"name": "users", "system": "main", "columns": "user STRING, n BIGINT, x DOUBLE"}
    out = {"name": "out", "system": "main", "topic": "people", "format": "avro", "registry": True, **out}
    made = {"name": "made", "map": {"from": "users", "select": select}}
    sent = {"name": "sent", "sendTo": {"from": "made", "stream": "out"}}
    return app(server.url, streams=[users, out], operators=[made, sent])


PEOPLE = {
    "type": "record",
    "name": "Person",
    "namespace": "org.people",
    "fields": [
        {"name": "n", "type": ["null", "long"]},
        {"name": "user", "type": "string"},
        {"name": "tier", "type": "string", "default": "free"},
    ],
}


def test_rows_are_written_by_the_newest_schema_of_the_topic_and_read_back(server: SchemaServer) -> None:
    server.register(12, PEOPLE)
    server.subjects["people-value"] = [7, 12]
    with InProcessApp(writing(server, {})) as running:
        running.send("users", [{"user": "ann", "n": 1}, {"user": "bob"}])
        assert running.rows("out") == [{"user": "ann", "n": 1}, {"user": "bob", "n": None}]
        first, _ = raw_values(running)
        assert first == b"\0\0\0\0\x0c\x02\x02\x06ann\x08free"
    assert [path for path in server.paths if "compatibility" in path or path.endswith("/versions")] == []


@pytest.mark.parametrize(
    ("writer", "subject"),
    [
        ({}, "people-value"),
        ({"subject": "record"}, "org.people.Person"),
        ({"subject": "topicRecord"}, "people-org.people.Person"),
    ],
)
def test_a_schema_is_registered_where_the_app_says_so_once_for_each_subject(
    server: SchemaServer, writer: dict[str, Any], subject: str
) -> None:
    out = {"avroSchema": json.dumps(PEOPLE), "writerSchema": {"autoRegister": True, **writer}}
    for _ in range(2):
        with InProcessApp(writing(server, out)) as running:
            running.send("users", {"user": "ann", "n": 1})
            assert running.rows("out") == [{"user": "ann", "n": 1}]
    assert {name: set(ids) for name, ids in server.subjects.items()} == {subject: {2}}


def test_without_a_schema_of_its_own_a_stream_registers_one_of_its_columns(server: SchemaServer) -> None:
    with InProcessApp(writing(server, {"writerSchema": {"autoRegister": True}})) as running:
        running.send("users", {"user": "ann", "n": 1})
        assert running.rows("out") == [{"user": "ann", "n": 1}]
    names = [field["name"] for field in json.loads(server.ids["2"]["schema"])["fields"]]
    assert names == ["user", "n"]


REFUSED = [
    ({}, "user, n", 'the subject "people-value" has no schema; register one, or say autoRegister: true'),
    ({"writerSchema": {"id": 99}}, "user, n", "schema id 99: the registry says: Schema not found"),
    ({"writerSchema": {"id": 12}}, "user, n, 1 AS x", "x: the schema has no such field"),
    ({"writerSchema": {"id": 12}}, "n", "user: no column has that name, and it has no default"),
    ({"writerSchema": {"id": 12}}, "user, x AS n", "n: the column is double, which long has no place for"),
]


@pytest.mark.parametrize(("out", "select", "message"), REFUSED)
def test_rows_without_a_place_in_the_schema_refuse_the_app_before_it_starts(
    server: SchemaServer, out: dict[str, Any], select: str, message: str
) -> None:
    server.register(12, PEOPLE)
    with pytest.raises(AppRefusedError) as refused:
        InProcessApp(writing(server, out, select))
    (problem,) = refused.value.problems
    assert problem.reason is Reason.SCHEMA_INCOMPATIBLE
    assert problem.path == "spec.streams[1].writerSchema"
    assert message in problem.message


def test_a_schema_that_the_registry_refuses_refuses_the_app_with_its_words(
    server: SchemaServer,
) -> None:
    server.subjects["people-value"] = [7]
    server.incompatible = ["READER_FIELD_MISSING_DEFAULT_VALUE: tier"]
    out = {"avroSchema": json.dumps(PEOPLE), "writerSchema": {"autoRegister": True}}
    with pytest.raises(AppRefusedError, match="READER_FIELD_MISSING_DEFAULT_VALUE: tier"):
        InProcessApp(writing(server, out))
    assert server.subjects == {"people-value": [7]}


def test_a_row_that_its_schema_has_no_place_for_ends_the_run_with_the_stream(server: SchemaServer) -> None:
    server.register(12, PEOPLE)
    with InProcessApp(writing(server, {"writerSchema": {"id": 12}})) as running:
        with pytest.raises(AppFailedError, match=r'"out": .*user'):
            running.send("users", {"n": 1})
        assert running.size("out") == 0


def raw_values(running: InProcessApp) -> list[bytes]:
    (batch,) = running._systems.read(Partition("out", 0), 0, running.size("out"))
    return batch.column("value").to_pylist()


def test_changes_of_a_database_in_avro_fill_a_table(server: SchemaServer) -> None:
    row = {"type": "record", "name": "Value", "fields": [{"name": "user", "type": "string"}, tier("tier")]}
    fields = [("before", ["null", row]), ("after", ["null", "Value"]), ("op", "string")]
    parts = [{"name": name, "type": kind} for name, kind in fields]
    server.register(9, {"type": "record", "name": "Envelope", "fields": parts})
    server.register(10, {"type": "record", "name": "Key", "fields": [{"name": "user", "type": "string"}]})
    customers = {"name": "customers", "system": "main", "format": "debezium", "registry": True, "key": "user"}
    customers |= {"columns": "user STRING NOT NULL, tier STRING"}
    users = {"name": "users", "system": "main", "key": "user", "columns": "user STRING"}
    table = {"name": "tiers", "broadcast": True, "sideInputs": [{"stream": "customers"}]}
    joined = {"from": "users", "table": "tiers", "type": "left", "select": "user, tier"}
    operators = [
        {"name": "joined", "joinTable": joined},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
    ]
    streams = [customers, users, {"name": "out", "system": "main"}]
    with InProcessApp(app(server.url, streams=streams, tables=[table], operators=operators)) as running:
        key = b"\0\0\0\0\x0a\x06ann".decode()
        running.send("customers", b"\0\0\0\0\x09\0\x02\x06ann\x02\x08gold\x02c", key=key)
        running.send("users", {"user": "ann"})
        running.send("customers", b"\0\0\0\0\x09\x02\x06ann\0\0\x02d", key=key)
        running.send("users", {"user": "ann"})
        assert running.rows("out") == [{"user": "ann", "tier": "gold"}, {"user": "ann", "tier": None}]


def tier(name: str) -> dict[str, Any]:
    return {"name": name, "type": ["null", "string"]}

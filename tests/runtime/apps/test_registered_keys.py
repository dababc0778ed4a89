"""Apps that read streams whose records have keys under a registry."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from streamapp.spec.reasons import Reason
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.testing.in_process_app import InProcessApp
from tests.harness.core.app_resources import app_resource, registry_system
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")
GUID = UUID("89791762-2336-4186-9674-299b90a802e2")
USER = {"type": "record", "name": "Key", "fields": [{"name": "user", "type": "string"}]}
TENANT_FIELDS = [{"name": "tenant", "type": "string"}, {"name": "id", "type": "long"}]
TENANT = {"type": "record", "name": "TenantKey", "fields": TENANT_FIELDS}
AVRO_USER = {"keyFormat": "avro", "keyColumns": "user STRING"}
ANN, BOB = b"\0\0\0\0\x07\x06ann", b"\0\0\0\0\x07\x06bob"
TENANT_SEVEN = b"\0\0\0\0\x08\x02a\x0e"
COUNTED = {"aggregate": {"from": "views", "aggregates": "count(*) AS total"}}
LISTED = {"map": {"from": "views", "select": "user, page"}}


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        registry.register(7, USER)
        registry.register(8, TENANT)
        registry.register(9, "string")
        registry.register(10, {**USER, "name": "Later"})
        yield registry


def app(url: str, views: dict[str, Any], *operators: dict[str, Any], **spec: Any) -> str:
    streams = [
        {"name": "views", "columns": "page STRING", **views},
        {"name": "users", "key": "user", "columns": "user STRING, name STRING"},
        {"name": "out"},
        {"name": "bad"},
    ]
    named = [{"name": "made" if number + 1 == len(operators) else f"o{number}", **each}
             for number, each in enumerate(operators)]  # fmt: skip
    named.append({"name": "sent", "sendTo": {"from": "made", "stream": "out"}})
    spec = {"onBadRecord": {"action": "deadLetter", "stream": "bad"}, **spec}
    return json.dumps(app_resource(named, streams, system=registry_system(url), **spec), indent=1)


def write(running: InProcessApp, *records: tuple[bytes | None, Any]) -> None:
    """Records of views, each with its key and, as JSON, its value."""
    keys = pa.array([key for key, _ in records], pa.binary())
    values = [None if value is None else json.dumps(value).encode() for _, value in records]
    arrays = [keys, pa.array(values, pa.binary()), pa.array([running.now] * len(records))]
    running.send_records({"views": pa.RecordBatch.from_arrays(arrays, schema=RECORDS)})


def refusal(url: str, views: dict[str, Any], *operators: dict[str, Any], **spec: Any) -> str:
    with pytest.raises(AppRefusedError) as refused:
        InProcessApp(app(url, views, *operators, **spec), partitions=3)
    assert {problem.reason for problem in refused.value.problems} <= {Reason.INVALID_GRAPH}
    return " | ".join(problem.message for problem in refused.value.problems)


def test_columns_are_read_from_keys_each_by_its_own_schema(server: SchemaServer) -> None:
    views = {"key": "user", "metadata": AVRO_USER | {"offset": "at"}}
    listed = {"map": {"from": "views", "select": "page, user, at"}}
    with InProcessApp(app(server.url, views, listed)) as running:
        write(running, (ANN, {"page": "/"}), (b"\0\0\0\0\x09\x06bob", {"page": "/b"}), (ANN, None))
        assert running.rows("out") == [
            {"page": "/", "user": "ann", "at": 0},
            {"page": "/b", "user": "bob", "at": 1},
            None,
        ]
        assert [record.key for record in running.records("out")] == ["ann", "bob", "ann"]


def test_parts_of_a_key_are_columns_and_the_key_may_be_its_bytes(server: SchemaServer) -> None:
    columns = {"keyFormat": "avro", "keyColumns": "id BIGINT, tenant STRING", "key": "k"}
    views = {"key": "k", "metadata": columns}
    counted = {
        "aggregate": {"from": "views", "aggregates": "count(*) AS total, max(id) AS id, max(tenant) AS t"}
    }
    with InProcessApp(app(server.url, views, counted), partitions=3) as running:
        write(running, (TENANT_SEVEN, {"page": "/"}))
        write(running, (TENANT_SEVEN, {"page": "/b"}))
        assert running.bad() == []
        assert [(row["total"], row["id"], row["t"]) for row in running.rows("out")] == [
            (1, 7, "a"),
            (2, 7, "a"),
        ]


def test_an_app_waits_for_the_registry_of_its_keys(server: SchemaServer) -> None:
    server.next_answers = [(503, "starting")] * 12
    with InProcessApp(app(server.url, {"metadata": AVRO_USER}, LISTED)) as running:
        write(running, (ANN, {"page": "/"}))
        assert running.rows("out") == [{"user": "ann", "page": "/"}]
        assert running.size("bad") == 0


def test_a_header_names_the_schema_of_a_key(server: SchemaServer) -> None:
    server.register(GUID, USER)
    with InProcessApp(app(server.url, {"metadata": AVRO_USER}, LISTED)) as running:
        running.send("views", {"page": "/"}, key="\x06ann", headers={"__key_schema_id": b"\x01" + GUID.bytes})
        assert running.rows("out") == [{"user": "ann", "page": "/"}]


def test_keys_that_cannot_be_read_make_records_bad_and_say_why(server: SchemaServer) -> None:
    with InProcessApp(app(server.url, {"key": "user", "metadata": AVRO_USER}, LISTED)) as running:
        keys = (b"ann", b"\0\0\0\0\x63\x06ann", TENANT_SEVEN, b"\0\0\0\0\x07\x06an", ANN)
        write(running, *((key, {"page": "/"}) for key in keys))
        unframed, unknown, wide, short = [bad.reason for bad in running.bad()]
        assert unframed == "its key: it has no frame of a schema registry: it begins with the byte 0x61"
        assert unknown == "its key: schema id 99: the registry says: Schema not found"
        assert "a key of tenant, id has not the one field user; name a column for keys as they are" in wide
        assert short.startswith("its key: schema id 7: ")
        assert running.rows("out") == [{"user": "ann", "page": "/"}]


def test_a_column_that_keys_must_have_is_missing_in_a_record_without_a_key(server: SchemaServer) -> None:
    metadata = {"keyFormat": "avro", "keyColumns": "user STRING NOT NULL"}
    with InProcessApp(app(server.url, {"metadata": metadata}, LISTED)) as running:
        write(running, (None, {"page": "/"}), (BOB, {"page": "/b"}))
        assert [bad.reason for bad in running.bad()] == ["its key: user: is missing or null and must not be"]
        assert running.rows("out") == [{"user": "bob", "page": "/b"}]


def test_a_key_is_held_against_the_column_of_the_value(server: SchemaServer) -> None:
    views = {"key": "user", "columns": "user STRING, page STRING", "metadata": {"keyFormat": "avro"}}
    users = {"name": "names", "broadcast": True, "sideInputs": [{"stream": "views"}]}
    joined = {"joinTable": {"from": "users", "table": "names", "select": "user, page"}}
    with InProcessApp(app(server.url, views, joined, tables=[users]), partitions=3) as running:
        write(running, (ANN, {"user": "ann", "page": "/a"}), (BOB, {"user": "ann", "page": "/b"}))
        running.send("users", {"user": "ann", "name": "Ann"})
        assert running.rows("out") == [{"user": "ann", "page": "/a"}]
        (bad,) = running.bad()
        assert bad.reason.startswith('its key is "bob", and its column user is "ann"')
        write(running, (ANN, None))
        assert running.table("names") == {}


def test_what_relies_on_partitions_by_decoded_keys_is_refused_with_the_mend(server: SchemaServer) -> None:
    views = {"key": "user", "metadata": AVRO_USER}
    bytes_of_keys = "records of views are in partitions by the bytes of their keys, with the id of a schema"
    counted = refusal(server.url, views, COUNTED)
    assert f"made needs equal keys in one task, and {bytes_of_keys}; put a partitionBy before made" in counted
    side = {"name": "pages", "sideInputs": [{"stream": "views"}]}
    joined = {"joinTable": {"from": "users", "table": "pages", "select": "user, page"}}
    filled = refusal(server.url, views, joined, tables=[side])
    assert f"the table pages needs equal keys in one task, and {bytes_of_keys}" in filled
    assert "say broadcast: true for pages" in filled


def test_behind_a_partition_by_keys_of_several_schemas_are_one(server: SchemaServer) -> None:
    views, by_user = {"key": "user", "metadata": AVRO_USER}, {"partitionBy": {"from": "views", "key": "user"}}
    counted = {"aggregate": {"from": "o0", "aggregates": "count(*) AS total"}}
    with InProcessApp(app(server.url, views, by_user, counted), partitions=3) as running:
        write(running, (ANN, {"page": "/"}), (BOB, {"page": "/"}))
        write(running, (b"\0\0\0\0\x0a\x06ann", {"page": "/"}))
        totals = {row["user"]: row["total"] for row in running.rows("out")}
        assert totals == {"ann": 2, "bob": 1}


@pytest.mark.parametrize("more", [{"keys": "unchecked"}, {}])
def test_one_partition_and_the_users_word_bring_decoded_keys_together(
    server: SchemaServer, more: dict[str, Any]
) -> None:
    views = {"key": "user", "metadata": AVRO_USER, **more}
    with InProcessApp(app(server.url, views, COUNTED), partitions=3 if more else 1) as running:
        write(running, (ANN, {"page": "/"}), (BOB, {"page": "/"}))
        write(running, (ANN, {"page": "/"}))
        assert running.bad() == []
        assert {row["user"]: row["total"] for row in running.rows("out")} == {"ann": 2, "bob": 1}


def test_keys_as_they_are_meet_no_plain_ones_and_no_others_of_another_format(server: SchemaServer) -> None:
    raw = {"key": "k", "metadata": AVRO_USER | {"key": "k"}}
    joined = {"join": {"from": ["views", "users"], "within": "1m", "select": "left.page, right.name"}}
    refused = refusal(server.url, raw, joined)
    assert "those of users are plain, those of views are avro behind the id of a schema; put a" in refused
    assert "put a partitionBy by one of metadata.keyColumns before made" in refused

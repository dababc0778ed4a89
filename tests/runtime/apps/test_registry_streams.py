"""Apps whose records name schemas of a registry, which may be away."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.testing.in_process_app import InProcessApp
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")
USERS = {"type": "record", "name": "User", "fields": [{"name": "user", "type": "string"}]}
ANN, BOB, UNKNOWN = b"\0\0\0\0\x07\x06ann", b"\0\0\0\0\x07\x06bob", b"\0\0\0\0\x08\x06cyd"


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        registry.register(7, USERS)
        yield registry


def app(url: str, **spec: Any) -> str:
    kafka = {"bootstrapServers": "kafka:9092", "schemaRegistry": {"url": url, "timeout": "5s"}}
    users = {"name": "users", "system": "main", "format": "avro", "registry": True, "columns": "user STRING"}
    streams = [users, {"name": "out", "system": "main"}, {"name": "bad", "system": "main"}]
    operators = [
        {"name": "big", "map": {"from": "users", "select": "upper(user) AS user"}},
        {"name": "sent", "sendTo": {"from": "big", "stream": "out"}},
    ]
    document = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp", "metadata": {"name": "a"}}
    fixed = {"systems": [{"name": "main", "kafka": kafka}], "streams": streams, "operators": operators}
    return json.dumps({**document, "spec": {**fixed, **spec}}, indent=1)


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


def test_an_app_that_would_write_such_a_stream_is_refused(server: SchemaServer) -> None:
    plain = {"name": "users", "system": "main", "columns": "user STRING"}
    sent = {"name": "sent", "sendTo": {"from": "users", "stream": "out"}}
    out = {"name": "out", "system": "main", "format": "avro", "registry": True, "columns": "user STRING"}
    with pytest.raises(AppRefusedError, match="registers no schema"):
        InProcessApp(app(server.url, streams=[plain, out], operators=[sent]))

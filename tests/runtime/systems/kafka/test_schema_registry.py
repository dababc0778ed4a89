"""What a schema registry answers, and what it means that it does not."""

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from streamapp_runtime.registered_schema import RegisteredSchema, SchemaDependency, UnknownSchemaError
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import open_registry_schemas
from streamapp_runtime.systems.stream_system import DeniedError, InvalidSettingsError, UnavailableError
from tests.harness.kafka.schema_server import SchemaServer, schema_server

pytestmark = pytest.mark.usefixtures("loopback")
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def server() -> Iterator[SchemaServer]:
    with schema_server() as registry:
        yield registry


def test_a_schema_is_asked_for_once_and_what_it_refers_to_comes_with_it_once(server: SchemaServer) -> None:
    to_money = [{"name": "Money", "subject": "money/eur", "version": 1}]
    both = [{"name": name, "subject": name, "version": 2} for name in ("item", "tax")]
    server.register(5, "order", references=both)
    for name in ("item", "tax"):
        server.versions[name, "2"] = {"schema": f'"{name}"', "references": to_money}
    server.versions["money/eur", "1"] = {"schema": '"money"'}
    schemas = open_registry_schemas([server.url], 5, {})
    texts = [("Money", '"money"'), ("item", '"item"'), ("tax", '"tax"')]
    needed = tuple(SchemaDependency(*each) for each in texts)
    for _ in range(2):
        registered = schemas.schema(5)
        assert registered == RegisteredSchema("AVRO", '"order"', needed)
    assert server.paths == [
        "/schemas/ids/5",
        "/subjects/item/versions/2",
        "/subjects/money%2Feur/versions/1",
        "/subjects/tax/versions/2",
    ]


def test_an_id_a_reference_and_a_circle_that_are_not_there_are_unknown_schemas(server: SchemaServer) -> None:
    reference = [{"name": "A", "subject": "a", "version": 1}]
    server.register(1, "x", references=[{"name": "B", "subject": "b", "version": 1}])
    server.register(2, "x", references=reference)
    server.versions["a", "1"] = {"schema": '"a"', "references": reference}
    schemas = open_registry_schemas([server.url], 5, {})
    with pytest.raises(UnknownSchemaError, match="schema id 7: the registry says: Schema not found"):
        schemas.schema(7)
    with pytest.raises(UnknownSchemaError, match='schema id 1 refers to "b" of version 1: the registry says'):
        schemas.schema(1)
    with pytest.raises(UnknownSchemaError, match='"a" of version 1 refers to itself'):
        schemas.schema(2)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (503, "{}"),
        (500, '{"error_code": 50001, "message": "store"}'),
        (429, "slow down"),
        (200, "<html>"),
        (200, "[]"),
    ],
)
def test_a_registry_that_cannot_answer_is_an_outage_and_is_asked_again(
    server: SchemaServer, status: int, text: str
) -> None:
    server.register(5, "string")
    server.next_answers = [(status, text)]
    schemas = open_registry_schemas([server.url], 5, {})
    with pytest.raises(
        UnavailableError, match=f"the schema registry cannot be asked: {server.url}: "
    ) as error:
        schemas.schema(5)
    assert not isinstance(error.value, DeniedError)
    assert schemas.schema(5).text == '"string"'


@pytest.mark.parametrize(
    ("status", "text", "message"),
    [
        (
            401,
            '{"error_code": 401, "message": "Unauthorized"}',
            "refuses the app: .* 401 Unauthorized; look at config",
        ),
        (403, "", "refuses the app"),
        (404, "<html>", "has no such request as a schema registry"),
        (422, '{"error_code": 42201, "message": "odd"}', "does not take the request: .* odd"),
        (307, "", "does not take the request"),
    ],
)
def test_a_refusal_is_for_somebody_to_mend_and_says_nothing_of_the_schema(
    server: SchemaServer, status: int, text: str, message: str
) -> None:
    server.next_answers = [(status, text)]
    with pytest.raises(DeniedError, match=message):
        open_registry_schemas([server.url], 5, {}).schema(5)


def test_a_server_without_lookup_by_guid_is_named(server: SchemaServer) -> None:
    with pytest.raises(
        DeniedError, match=f"{server.url} has no such request as a schema registry: GET /schemas/guids"
    ):
        open_registry_schemas([server.url], 5, {}).schema(uuid4())


def test_of_several_urls_the_next_one_is_asked_and_stays_the_first(server: SchemaServer) -> None:
    server.register(5, "string")
    server.register(6, "string")
    schemas = open_registry_schemas([NOWHERE, server.url], 5, {})
    assert schemas.schema(5) == schemas.schema(6)
    assert schemas.requests.urls == (server.url, NOWHERE)
    with pytest.raises(
        UnavailableError, match=f"{NOWHERE}: Connection refused; {NOWHERE}/x: Connection refused"
    ):
        open_registry_schemas([NOWHERE, f"{NOWHERE}/x"], 5, {}).schema(5)


def test_logins_come_from_the_secret_of_the_cluster(server: SchemaServer, tmp_path: Path) -> None:
    server.register(5, "string")
    basic, bearer = tmp_path / "basic", tmp_path / "bearer"
    basic.write_text("sasl.password=x\nschema.registry.basic.auth.user.info=ann:secret\n")
    bearer.write_text("schema.registry.bearer.auth.token=abc\n")
    for secrets in (basic, bearer):
        open_registry_schemas([server.url], 5, {"client.rack": "a"}, str(secrets)).schema(5)
    assert server.logins == ["Basic YW5uOnNlY3JldA==", "Bearer abc"]
    both = tmp_path / "both"
    both.write_text(basic.read_text() + bearer.read_text())
    with pytest.raises(InvalidSettingsError, match="not both"):
        open_registry_schemas([server.url], 5, {}, str(both))


def test_no_message_has_what_a_login_is_made_of(server: SchemaServer, tmp_path: Path) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("schema.registry.basic.auth.user.info=ann:hunter22\n")
    server.next_answers = [(401, json.dumps({"error_code": 401, "message": "no"}))]
    schemas = open_registry_schemas([server.url], 5, {}, str(secrets))
    with pytest.raises(DeniedError) as denied:
        schemas.schema(5)
    assert "hunter22" not in f"{denied.value}{schemas!r}"

"""A schema registry that nobody here wrote, and records of Confluent's own clients under its schemas."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from hypothesis import given, settings

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import UnknownSchemaError
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import open_registry_schemas
from streamapp_runtime.systems.kafka.schema_registry.registry_subjects import IncompatibleSchemaError
from streamapp_runtime.systems.stream_system import DeniedError
from tests.harness.engine.avro_schemas import Evolution, evolutions
from tests.harness.kafka.apicurio import apicurio

pytestmark = pytest.mark.usefixtures("process")


@pytest.fixture(scope="module")
def registry() -> Iterator[str]:
    with apicurio() as url:
        yield url


@pytest.fixture(scope="module")
def client(registry: str) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": registry}) as confluent:
        yield confluent


def record(name: str, **fields: Any) -> dict[str, Any]:
    parts = [{"name": field, "type": kind} for field, kind in fields.items()]
    return {"type": "record", "name": name, "fields": parts}


def test_its_answers_mean_what_those_of_the_tests_own_server_mean(registry: str) -> None:
    schemas = open_registry_schemas([registry], 30, {})
    with pytest.raises(UnknownSchemaError, match="schema id 424242: the registry says: "):
        schemas.schema(424242)
    with pytest.raises(DeniedError, match="has no such request as a schema registry: GET /schemas/guids/"):
        schemas.schema(uuid4())
    assert schemas.subjects.newest("nothing-value") is None
    first, text = record("Row", a="int"), json.dumps(record("Row", a="int"))
    schema_id = schemas.subjects.register("rows-value", text)
    assert schemas.subjects.newest("rows-value") == schema_id
    assert schemas.subjects.register("rows-value", text) == schema_id
    assert json.loads(schemas.schema(schema_id).text) == first


def test_a_schema_that_it_finds_incompatible_is_refused_with_its_words(
    registry: str, client: SchemaRegistryClient
) -> None:
    schemas = open_registry_schemas([registry], 30, {})
    schemas.subjects.register("kept-value", json.dumps(record("Row", a="int")))
    client.set_compatibility("kept-value", "BACKWARD")
    with pytest.raises(IncompatibleSchemaError):
        schemas.subjects.register("kept-value", json.dumps(record("Row", a="int", b="string")))
    assert client.get_versions("kept-value") == [1]


def test_schemas_that_refer_to_one_by_two_ways_are_read(registry: str, client: SchemaRegistryClient) -> None:
    def registered(subject: str, schema: Any, *names: str) -> int:
        references = [SchemaReference(name, name, 1) for name in names]
        return client.register_schema(subject, Schema(json.dumps(schema), "AVRO", references))

    registered("Money", record("Money", cents="long"))
    registered("Item", record("Item", price="Money"), "Money")
    registered("Tax", record("Tax", due="Money"), "Money")
    schema_id = registered("orders-value", record("Order", item="Item", tax="Tax"), "Item", "Tax")
    columns = parse_columns("tax STRUCT<due: STRUCT<cents: BIGINT>>")
    schemas = open_registry_schemas([registry], 30, {})
    form = open_format("avro", columns, FormatOptions(registry=True), schemas)
    decoded = form.decode(pa.array([b"\0" + schema_id.to_bytes(4) + b"\x02\x04"]))
    assert decoded.columns.to_pylist() == [{"tax": {"due": {"cents": 2}}}]


@given(made=evolutions())
@settings(max_examples=25)
def test_what_confluents_serializer_writes_is_read_as_its_deserializer_reads_it(
    registry: str, client: SchemaRegistryClient, made: Evolution
) -> None:
    topic = f"t{uuid4().hex}"
    context = SerializationContext(topic, MessageField.VALUE)
    write = AvroSerializer(client, json.dumps(made.written))
    read = AvroDeserializer(client, json.dumps(made.read))
    values = [write(row, context) for row in made.rows]
    schemas = open_registry_schemas([registry], 30, {})
    form = open_format("avro", parse_columns(made.columns), FormatOptions(registry=True), schemas)
    decoded = form.decode(pa.array(values, pa.binary()))
    assert decoded.bad == ()
    assert decoded.columns.to_pylist(maps_as_pydicts="strict") == [read(value, context) for value in values]


@given(made=evolutions())
@settings(max_examples=25)
def test_what_is_written_is_read_by_confluents_deserializer(
    registry: str, client: SchemaRegistryClient, made: Evolution
) -> None:
    topic = f"t{uuid4().hex}"
    schema_id = open_registry_schemas([registry], 30, {}).subjects.register(topic, json.dumps(made.read))
    writer = ResolvedWriterSchema(schema_id, json.dumps(made.read))
    columns = parse_columns(made.columns)
    form = open_format("avro", columns, FormatOptions(registry=True, writer=writer))
    as_read = open_format("avro", columns, FormatOptions(json.dumps(made.read)))
    plain = open_format("avro", columns, FormatOptions(json.dumps(made.written)))
    rows = plain.decode(pa.array(made.values, pa.binary())).columns
    read = AvroDeserializer(client)
    context = SerializationContext(topic, MessageField.VALUE)
    assert [read(value, context) for value in form.encode(rows).to_pylist()] == rows.to_pylist(
        maps_as_pydicts="strict"
    )
    assert as_read.decode(as_read.encode(rows)).columns.equals(rows)

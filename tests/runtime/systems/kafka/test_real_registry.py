"""A schema registry that nobody here wrote, and records of Confluent's own clients under its schemas."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.spec.value_types.format_names import KeyFormat
from streamapp_runtime.cli.record_input.row_lines import RowLines
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.json.registered_json import JSON
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.protobuf.schema_files import schema_file
from streamapp_runtime.formats.registered_keys import KEY_KINDS, RegisteredKeys
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import UnknownSchemaError, WritableSchemas
from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import open_registry_schemas
from streamapp_runtime.systems.kafka.schema_registry.registry_subjects import IncompatibleSchemaError
from streamapp_runtime.systems.stream_system import RECORDS, DeniedError
from streamapp_runtime.testing.memory_registry import MemoryRegistry
from tests.harness.engine.avro_schemas import Evolution, evolutions
from tests.harness.engine.protobuf_schemas import ProtobufRecords, as_rows, protobuf_records
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
    assert (schemas.subjects.versions("rows-value"), schemas.subjects.versions("none")) == ([1], [])
    assert schemas.of_version(("rows-value", 1)) == schemas.schema(schema_id)


@pytest.fixture(params=["real", "in memory"])
def schemas(request: pytest.FixtureRequest) -> WritableSchemas:
    """The schemas of the registry, and of the one that the kit has in its place."""
    if request.param == "real":
        return open_registry_schemas([request.getfixturevalue("registry")], 30, {})
    return MemoryRegistry()


def test_subjects_ids_and_schemas_are_alike_in_the_registry_of_the_kit(schemas: WritableSchemas) -> None:
    subject, other = f"{uuid4().hex}-value", f"{uuid4().hex}-value"
    older, newer = json.dumps(record("Old", a="int")), json.dumps(record("New", a="int"))
    with pytest.raises(UnknownSchemaError, match="schema id 424242: the registry says: "):
        schemas.schema(424242)
    assert schemas.subjects.newest(subject) is None
    first = schemas.subjects.register(subject, older)
    assert schemas.subjects.register(subject, older) == schemas.subjects.newest(subject) == first
    second = schemas.subjects.register(subject, newer)
    assert schemas.subjects.newest(subject) == second != first
    assert schemas.subjects.register(subject, older) == first
    assert schemas.subjects.newest(subject) == second
    assert schemas.subjects.register(other, older) == schemas.subjects.newest(other) == first
    assert json.loads(schemas.schema(first).text) == json.loads(older)
    assert (schemas.schema(first).kind, schemas.schema(first).dependencies) == ("AVRO", ())


def test_the_kinds_of_schemas_are_alike_in_the_registry_of_the_kit(schemas: WritableSchemas) -> None:
    texts = {
        "AVRO": '"string"',
        "JSON": '{"type": "object", "title": "T", "properties": {"a": {"type": "string"}}}',
        "PROTOBUF": 'syntax = "proto3";\nmessage T {\n  string a = 1;\n}\n',
    }
    ids = {kind: schemas.subjects.register(f"{uuid4().hex}-key", text, kind) for kind, text in texts.items()}
    assert len(set(ids.values())) == len(texts)
    assert {kind: schemas.schema(schema_id).kind for kind, schema_id in ids.items()} == {n: n for n in texts}


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (
            "AVRO",
            [
                json.dumps(record("Money", cents="long")),
                json.dumps(record("Tax", due="Money")),
                json.dumps(record("Order", price="Money", tax="Tax")),
            ],
        ),
        (
            "PROTOBUF",
            [
                'syntax = "proto3";\nmessage Money {\n  int64 cents = 1;\n}\n',
                'syntax = "proto3";\nimport "Money";\nmessage Tax {\n  Money due = 1;\n}\n',
                'syntax = "proto3";\nimport "Money";\nimport "Tax";\n'
                "message Order {\n  Money price = 1;\n  Tax tax = 2;\n}\n",
            ],
        ),
    ],
)
def test_references_are_followed_alike_in_the_registry_of_the_kit(
    schemas: WritableSchemas, request: pytest.FixtureRequest, kind: str, texts: list[str]
) -> None:
    run = uuid4().hex

    def registered(place: int, **references: int) -> int:
        named = [(name, f"{run}-{name}", version) for name, version in references.items()]
        subject = f"{run}-{('Money', 'Tax', 'Order')[place]}"
        if isinstance(schemas, MemoryRegistry):
            return schemas.register(subject, texts[place], kind, references=named)
        client: SchemaRegistryClient = request.getfixturevalue("client")
        referred = [SchemaReference(*reference) for reference in named]
        return client.register_schema(subject, Schema(texts[place], kind, referred))

    registered(0)
    registered(1, Money=1)
    order = schemas.schema(registered(2, Money=1, Tax=1))
    assert (order.kind, [dependency.name for dependency in order.dependencies]) == (kind, ["Money", "Tax"])
    form = open_format(
        "avro" if kind == "AVRO" else "protobuf",
        parse_columns("price STRUCT<cents: BIGINT>, tax STRUCT<due: STRUCT<cents: BIGINT>>"),
        FormatOptions(registry=True),
        schemas,
    )
    index, own_id = b"\0" if kind == "PROTOBUF" else b"", schemas.subjects.newest(f"{run}-Order")
    record_of_both = b"\x02\x04" if kind == "AVRO" else b"\x0a\x02\x08\x01\x12\x04\x0a\x02\x08\x02"
    assert own_id is not None
    decoded = form.decode(pa.array([b"\0" + own_id.to_bytes(4) + index + record_of_both]))
    assert decoded.bad == ()
    assert decoded.columns.to_pylist() == [{"price": {"cents": 1}, "tax": {"due": {"cents": 2}}}]


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


@given(made=protobuf_records())
@settings(max_examples=20)
def test_what_confluents_protobuf_serializer_writes_is_read_as_googles_library_reads_it(
    registry: str, client: SchemaRegistryClient, made: ProtobufRecords
) -> None:
    context = SerializationContext(f"t{uuid4().hex}", MessageField.VALUE)
    message_class = made.message_class
    write = ProtobufSerializer(message_class, client, {"use.deprecated.format": False})
    values = [write(message_class.FromString(each), context) for each in made.messages]
    form = open_format(
        "protobuf",
        parse_columns(made.columns),
        FormatOptions(registry=True),
        open_registry_schemas([registry], 30, {}),
    )
    decoded = form.decode(pa.array(values, pa.binary()))
    assert decoded.bad == ()
    assert as_rows(decoded.columns.to_pylist()) == as_rows([made.expected(each) for each in made.messages])


def test_protobuf_that_is_written_is_read_by_confluents_deserializer(
    registry: str, client: SchemaRegistryClient
) -> None:
    columns = parse_columns("a INT, b STRING, c ARRAY<BIGINT>, d TIMESTAMP, e MAP<STRING, DOUBLE>")
    schemas = open_registry_schemas([registry], 30, {})
    text = PROTOBUF.own_schema(open_format("json", columns).schema)
    schema_id = schemas.subjects.register(f"t{uuid4().hex}", text, "PROTOBUF")
    assert schemas.schema(schema_id).text == text
    form = open_format(
        "protobuf",
        columns,
        FormatOptions(registry=True, writer=ResolvedWriterSchema(schema_id, text)),
        schemas,
    )
    at = datetime(2026, 1, 31, 12, 0, 0, 123456, UTC)
    rows = [{"a": -1, "b": "x", "c": [1, 2], "d": at, "e": {"k": 0.5}}, {"a": 0}]
    value, empty = form.encode(pa.RecordBatch.from_pylist(rows, form.schema)).to_pylist()
    message_class = GetMessageClass(schema_file(text, ()).message_types_by_name["Value"])
    read = ProtobufDeserializer(message_class, {"use.deprecated.format": False})
    context = SerializationContext("t", MessageField.VALUE)
    message = read(value, context)
    assert (message.a, message.b, list(message.c), message.d.ToDatetime(UTC)) == (-1, "x", [1, 2], at)
    assert dict(message.e) == {"k": 0.5}
    assert [field.name for field, _ in read(empty, context).ListFields()] == ["a"]


def test_json_is_read_and_written_as_confluents_serializers_do(
    registry: str, client: SchemaRegistryClient
) -> None:
    # its import takes 3 s, and every worker collects this module
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer

    columns = parse_columns("user STRING, n BIGINT, tags ARRAY<STRING>")
    schemas = open_registry_schemas([registry], 30, {})
    text = JSON.own_schema(open_format("json", columns).schema)
    schema_id = schemas.subjects.register("people-value", text, "JSON")
    options = FormatOptions(registry=True, writer=ResolvedWriterSchema(schema_id, text))
    form = open_format("json", columns, options, schemas)
    context = SerializationContext("people", MessageField.VALUE)
    rows = [{"user": "ann", "n": 2**60, "tags": ["a"]}, {"user": None, "n": 1, "tags": []}]
    write = JSONSerializer(text, client)
    decoded = form.decode(pa.array([write(row, context) for row in rows] + [b"\0\0\0\0\x63{}", b"{}"]))
    assert decoded.columns.to_pylist()[:2] == rows
    unknown, unframed = decoded.bad
    assert unknown.reason.startswith("schema id 99: the registry says: ")
    assert unframed.reason == "it has no frame of a schema registry: it begins with the byte 0x7b"
    read = JSONDeserializer(text, schema_registry_client=client)
    values = form.encode(decoded.columns.slice(0, 2)).to_pylist()
    assert [read(value, context) for value in values] == rows


def keys_read(
    registry: str, form: KeyFormat, columns: str, keys: list[bytes], *, decoded: bool = False
) -> Any:
    options = FormatOptions(
        key_format=form,
        key_columns=parse_columns(columns),
        key_is_decoded=decoded,
    )
    reader = RegisteredKeys(options, (), open_registry_schemas([registry], 30, {}))
    return reader.read(pa.array(keys, pa.binary()))


@pytest.mark.parametrize(
    ("schema", "keys"),
    [
        ("string", ["ann", "Zo\u00eb", ""]),
        ("long", [0, -1, 2**62]),
        (record("Key", user="string"), [{"user": "ann"}, {"user": ""}]),
        (record("Wide", tenant="string", user="string"), [{"tenant": "a", "user": "ann"}]),
    ],
)
def test_keys_of_confluents_avro_serializer_are_read_as_its_deserializer_reads_them(
    registry: str, client: SchemaRegistryClient, schema: Any, keys: list[Any]
) -> None:
    context = SerializationContext(f"t{uuid4().hex}", MessageField.KEY)
    write, read = AvroSerializer(client, json.dumps(schema)), AvroDeserializer(client)
    written = [write(key, context) for key in keys]
    names = [field["name"] for field in schema["fields"]] if isinstance(schema, dict) else ["user"]
    columns = ", ".join(f"{name} {'BIGINT' if schema == 'long' else 'STRING'}" for name in names)
    found = keys_read(registry, "avro", columns, written)
    assert (found.faults, found.keys.to_pylist()) == ({}, written)
    rows = found.columns.to_pylist()
    assert [row if isinstance(schema, dict) else row["user"] for row in rows] == [
        read(key, context) for key in written
    ]


def test_keys_of_confluents_protobuf_and_json_serializers_are_the_keys_of_rows(
    registry: str, client: SchemaRegistryClient
) -> None:
    from confluent_kafka.schema_registry.json_schema import JSONSerializer

    context = SerializationContext(f"t{uuid4().hex}", MessageField.KEY)
    messages = schema_file(
        'syntax = "proto3"; message Key { string user = 1; } message Wide { string user = 1; int32 n = 2; }',
        (),
    ).message_types_by_name
    one, wide = (GetMessageClass(messages[name]) for name in ("Key", "Wide"))
    values = [
        ProtobufSerializer(made, client, {"use.deprecated.format": False})(made(user="ann"), context)
        for made in (one, wide)
    ]
    found = keys_read(registry, "protobuf", "user STRING", values, decoded=True)
    assert found.keys[0].as_py() == b"ann"
    assert '"Wide" has fields that are no columns: n' in found.faults[1]
    of_json = {"type": "object", "title": "Key", "properties": {"user": {"type": "string"}}}
    objects = JSONSerializer(json.dumps(of_json), client)
    texts = JSONSerializer('{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}', client)
    context = SerializationContext(f"t{uuid4().hex}", MessageField.KEY)
    values = [
        objects({"user": "ann"}, context),
        objects({"user": "ann", "n": 1}, context),
        texts("bob", context),
    ]
    found = keys_read(registry, "json", "user STRING", values, decoded=True)
    assert [found.keys[place].as_py() for place in (0, 2)] == [b"ann", b"bob"]
    assert list(found.faults) == [1]


NEWEST = {"auto.register.schemas": False, "use.latest.version": True}


def keys_written(
    registry: str, form: KeyFormat, subject: str, text: str, columns: str, rows: list[dict[str, Any]]
) -> list[bytes]:
    """Keys that are written by a schema, which is registered and read back, and are read again."""
    schemas, kind = open_registry_schemas([registry], 30, {}), KEY_KINDS[form]
    schema_id = schemas.subjects.register(subject, text, kind.name)
    writer = ResolvedWriterSchema(schema_id, schemas.schema(schema_id).text)
    parsed = parse_columns(columns)
    kind.check_writable(arrow_schema(parsed), writer)
    options = FormatOptions(key_format=form, key_columns=parsed, key_writer=writer)
    keys, batch = (
        RegisteredKeys(options, (), schemas),
        pa.RecordBatch.from_pylist(rows, schema=arrow_schema(parsed)),
    )
    none, kept = pa.nulls(len(batch), pa.binary()), pa.array([False] * len(batch), pa.bool_())
    written = keys.write(batch.columns, none, kept)
    read = keys.read(written)
    assert (read.faults, read.columns) == ({}, batch)
    return list(written.to_pylist())


@given(made=evolutions())
@settings(max_examples=20)
def test_avro_keys_are_the_bytes_of_confluents_serializer_and_its_deserializer_reads_them(
    registry: str, client: SchemaRegistryClient, made: Evolution
) -> None:
    topic = f"t{uuid4().hex}"
    context = SerializationContext(topic, MessageField.KEY)
    plain = open_format("avro", parse_columns(made.columns), FormatOptions(json.dumps(made.written)))
    decoded = plain.decode(pa.array(made.values, pa.binary())).columns
    rows = decoded.to_pylist(maps_as_pydicts="strict")
    rows = [row for row in rows if any(part is not None for part in row.values())]
    keys = keys_written(registry, "avro", f"{topic}-key", json.dumps(made.read), made.columns, rows)
    read = AvroDeserializer(client)
    assert [read(key, context) for key in keys] == rows
    write = AvroSerializer(client, json.dumps(made.read), conf=NEWEST)
    assert keys == [write(row, context) for row in rows]


@pytest.mark.parametrize(("schema", "column"), [("string", "user STRING"), ("long", "user BIGINT")])
def test_an_avro_key_that_is_a_value_alone_is_what_confluents_serializer_writes(
    registry: str, client: SchemaRegistryClient, schema: str, column: str
) -> None:
    topic = f"t{uuid4().hex}"
    context = SerializationContext(topic, MessageField.KEY)
    values = ["ann", "Zo\u00eb", ""] if schema == "string" else [0, -1, 2**62]
    rows = [{"user": value} for value in values]
    keys = keys_written(registry, "avro", f"{topic}-key", json.dumps(schema), column, rows)
    write = AvroSerializer(client, json.dumps(schema), conf=NEWEST)
    assert keys == [write(value, context) for value in values]


def test_protobuf_and_json_keys_are_read_by_confluents_deserializers(
    registry: str, client: SchemaRegistryClient
) -> None:
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer

    topic, columns = f"t{uuid4().hex}", "tenant STRING, id BIGINT"
    context = SerializationContext(topic, MessageField.KEY)
    rows = [{"tenant": "a", "id": 7}, {"tenant": "", "id": -1}]
    text = KEY_KINDS["protobuf"].own_schema(arrow_schema(parse_columns(columns)))
    keys = keys_written(registry, "protobuf", f"{topic}-key", text, columns, rows)
    message_class = GetMessageClass(schema_file(text, ()).message_types_by_name["Key"])
    read = ProtobufDeserializer(message_class, {"use.deprecated.format": False})
    messages = [read(key, context) for key in keys]
    assert [(message.tenant, message.id) for message in messages] == [("a", 7), ("", -1)]
    write = ProtobufSerializer(message_class, client, {"use.deprecated.format": False})
    others = [write(message, context) for message in messages]  # which registers a schema of its own
    assert [key[5:] for key in keys] == [key[5:] for key in others]

    topic = f"t{uuid4().hex}"
    text = KEY_KINDS["json"].own_schema(arrow_schema(parse_columns(columns)))
    of_json = JSONDeserializer(text, schema_registry_client=client)
    keys = keys_written(registry, "json", f"{topic}-key", text, columns, rows)
    assert [of_json(key, context) for key in keys] == rows
    text = '{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}'
    lone = keys_written(registry, "json", f"t{uuid4().hex}-key", text, "user STRING", [{"user": "ann"}])
    assert [key[5:] for key in lone] == [b'"ann"']


def test_changes_are_read_by_confluents_deserializers(registry: str, client: SchemaRegistryClient) -> None:
    from confluent_kafka.schema_registry.json_schema import JSONDeserializer

    value = record("Value", id="long", at={"type": "long", "connect.name": "io.debezium.time.Timestamp"})
    envelope = record(
        "Envelope", before=["null", value], after=["null", "Value"], source=record("Source", lsn="long")
    )
    envelope["fields"].append({"name": "op", "type": "string"})
    at = {"type": "integer", "title": "io.debezium.time.Timestamp"}
    properties = {"id": {"type": "integer"}, "at": at}
    row = {"type": "object", "properties": properties, "required": ["id", "at"]}
    parts = {
        "before": {"oneOf": [{"type": "null"}, row]},
        "after": {"oneOf": [{"type": "null"}, row]},
        "source": {"type": "object", "properties": {"lsn": {"type": "integer"}}, "required": ["lsn"]},
        "op": {"type": "string"},
    }
    of_json = json.dumps({"type": "object", "properties": parts, "required": list(parts)})
    lines = [
        {"after": {"id": 7, "at": "2026-01-31T12:00:00.005"}, "op": "c"},
        {"before": {"id": 7}, "op": "d"},
    ]
    for kind, text in (("AVRO", json.dumps(envelope)), ("JSON", of_json)):
        topic = f"t{uuid4().hex}"
        schemas = open_registry_schemas([registry], 30, {})
        schemas.subjects.register(f"{topic}-value", text, kind)
        schemas.subjects.register(f"{topic}-key", json.dumps(record("Key", id="long")))
        columns = "id BIGINT, at TIMESTAMP_NTZ"
        form: Any = {"format": "debezium", "registry": True, "key": "id", "columns": columns}
        registered = RowLines.of(Stream(name=topic, system="main", **form), schemas)
        texts = pa.array([json.dumps(line).encode() for line in lines])
        none = pa.nulls(len(lines), pa.binary())
        records = pa.RecordBatch.from_arrays([none, texts, pa.array([0, 0])], schema=RECORDS)
        written = registered.encoded(records, none, pa.array([1, 2]))
        context = SerializationContext(topic, MessageField.VALUE)
        read = (
            AvroDeserializer(client)
            if kind == "AVRO"
            else JSONDeserializer(text, schema_registry_client=client)
        )
        time = int(datetime(2026, 1, 31, 12, 0, 0, 5000, UTC).timestamp() * 1000)
        source = {"lsn": 0}
        assert [read(each, context) for each in written.column("value").to_pylist()] == [
            {"before": None, "after": {"id": 7, "at": time}, "source": source, "op": "c"},
            {"before": {"id": 7, "at": 0}, "after": None, "source": source, "op": "d"},
        ]
        key = AvroDeserializer(client)
        assert [key(each, context) for each in written.column("key").to_pylist()] == [{"id": 7}] * 2

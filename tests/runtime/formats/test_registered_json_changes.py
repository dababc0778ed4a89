"""Changes of Debezium as JSON Schema under a registry, written by Confluent's serializer, and their keys."""

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import column_list
from streamapp_runtime.formats.debezium.registered_changes import RegisteredChanges, change_writer
from streamapp_runtime.formats.debezium.written_changes import change_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.schema_difference import stream_columns
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaId, UnresolvableSchemaError
from tests.harness.engine.known_schemas import KnownSchemas

TIME, CONNECT = "io.debezium.time", "org.apache.kafka.connect.data"


def optional(kind: str, of_connect: str, title: str = "", **more: Any) -> dict[str, Any]:
    named = {"title": title, "connect.version": 1} if title else {}
    return {"oneOf": [{"type": "null"}, {"type": kind, "connect.type": of_connect, **named, **more}]}


SCALES = {"scale": "2", "connect.decimal.precision": "9"}
NUMBERED = {"scale": "3", "connect.decimal.precision": "5"}
FIELDS: dict[str, Any] = {
    "id": {"type": "integer", "connect.type": "int32", "connect.index": 0},
    "name": {"oneOf": [{"type": "null"}, {"type": "string"}]},
    "raw": optional("string", "bytes"),
    "born": optional("integer", "int32", f"{TIME}.Date"),
    "at": optional("integer", "int64", f"{TIME}.Timestamp"),
    "exact": optional("integer", "int64", f"{TIME}.MicroTimestamp"),
    "finest": optional("integer", "int64", f"{TIME}.NanoTimestamp"),
    "iso": {"oneOf": [{"type": "null"}, {"type": "string", "title": f"{TIME}.IsoTimestamp"}]},
    "seen": {"oneOf": [{"type": "null"}, {"type": "string", "title": f"{TIME}.ZonedTimestamp"}]},
    "made": optional("integer", "int64", f"{CONNECT}.Timestamp"),
    "day": optional("integer", "int32", f"{CONNECT}.Date"),
    "price": optional("string", "bytes", f"{CONNECT}.Decimal", **{"connect.parameters": SCALES}),
    "rate": optional("number", "bytes", f"{CONNECT}.Decimal", **{"connect.parameters": NUMBERED}),
    "tags": {
        "oneOf": [
            {"type": "null"},
            {"type": "array", "items": {"oneOf": [{"type": "null"}, {"type": "string"}]}},
        ]
    },
    "attrs": optional(
        "object", "map", additionalProperties={"oneOf": [{"type": "null"}, {"type": "string"}]}
    ),
    "tod": optional("integer", "int64", f"{TIME}.MicroTime"),
}
COLUMNS = (
    "id INT, name STRING, raw BINARY, born DATE, at TIMESTAMP_NTZ, exact TIMESTAMP_NTZ, "
    "finest TIMESTAMP_NTZ, iso TIMESTAMP_NTZ, seen TIMESTAMP, made TIMESTAMP, day DATE, "
    "price DECIMAL(9,2), rate DECIMAL(5,3), tags ARRAY<STRING>, attrs MAP<STRING, STRING>, tod BIGINT"
)
VALUE = {"type": "object", "title": "shop.public.customers.Value", "properties": FIELDS}
NULLABLE = {"oneOf": [{"type": "null"}, VALUE]}
ENVELOPE = {
    "type": "object",
    "title": "shop.public.customers.Envelope",
    "properties": {
        "before": NULLABLE,
        "after": NULLABLE,
        "source": {"type": "object", "properties": {"ts_ms": {"type": "integer", "connect.type": "int64"}}},
        "op": {"type": "string"},
        "ts_ms": optional("integer", "int64"),
    },
}
DELETED = {"oneOf": [{"type": "null"}, {"type": "string"}]}
FLAT = {**VALUE, "properties": {**FIELDS, "__deleted": DELETED}}
KEY = {"type": "object", "properties": {"id": FIELDS["id"]}}
WIDE_KEY = {"type": "object", "properties": {"id": FIELDS["id"], "shard": {"type": "integer"}}}
LONE_KEY = {"type": "integer", "connect.type": "int32"}

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
LOCAL = NOON.replace(tzinfo=None)
SECONDS = int(NOON.timestamp())
WRITTEN = {
    "id": 1,
    "name": "Ann",
    "raw": "AP8=",
    "born": -1,
    "at": SECONDS * 1000 + 5,
    "exact": SECONDS * 1_000_000 + 7,
    "finest": SECONDS * 1_000_000_000 + 8_999,
    "iso": "2026-01-31T12:00:00.000001Z",
    "seen": "2026-01-31T14:00:00+02:00",
    "made": SECONDS * 1000,
    "day": 1,
    "price": "/tg=",  # -296
    "rate": 1.5,
    "tags": ["a", None],
    "attrs": {"a": "1", "b": None},
    "tod": 3,
}
READ = {
    **WRITTEN,
    "raw": b"\0\xff",
    "born": date(1969, 12, 31),
    "at": LOCAL.replace(microsecond=5000),
    "exact": LOCAL.replace(microsecond=7),
    "finest": LOCAL.replace(microsecond=8),
    "iso": LOCAL.replace(microsecond=1),
    "seen": NOON,
    "made": NOON,
    "day": date(1970, 1, 2),
    "price": Decimal("-2.96"),
    "rate": Decimal("1.500"),
    "attrs": [("a", "1"), ("b", None)],
}
NOTHING = dict.fromkeys(FIELDS)

Write = Callable[[dict[str, Any], Any], bytes]


@pytest.fixture
def lookup() -> KnownSchemas:
    return KnownSchemas({})


@pytest.fixture
def write(lookup: KnownSchemas) -> Write:
    """Confluent's serializer over its registry in memory, whose schemas the lookup gets."""
    # its import takes 3 s, and every worker collects this module
    from confluent_kafka.schema_registry import SchemaRegistryClient
    from confluent_kafka.schema_registry.json_schema import JSONSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    client = SchemaRegistryClient.new_client({"url": "mock://"})

    def written(schema: dict[str, Any], value: Any) -> bytes:
        subject = f"topic{abs(hash(json.dumps(schema)))}"
        record: bytes = JSONSerializer(json.dumps(schema), client)(
            value, SerializationContext(subject, MessageField.VALUE)
        )
        schema_id = int.from_bytes(record[1:5])
        lookup.schemas[schema_id] = RegisteredSchema("JSON", json.dumps(schema))
        return record

    return written


def changes(lookup: KnownSchemas, columns: str, **options: Any) -> RegisteredChanges:
    made = FormatOptions(**{"key": "id", "registry": True, **options})
    form = open_format("debezium", parse_columns(columns), made, lookup)
    assert isinstance(form, RegisteredChanges)
    return form


def change(op: str, after: Any = None, before: Any = None) -> dict[str, Any]:
    return {"before": before, "after": after, "source": {"ts_ms": 5}, "op": op, "ts_ms": 6}


def test_each_type_of_the_converter_is_read_by_its_title(lookup: KnownSchemas, write: Write) -> None:
    envelopes = [write(ENVELOPE, change("c", row)) for row in (WRITTEN, {**NOTHING, "id": 2})]
    batch = changes(lookup, COLUMNS).decode(pa.array(envelopes))
    assert batch.bad == ()
    assert batch.columns.to_pylist() == [READ, {**NOTHING, "id": 2}]
    flat = changes(lookup, COLUMNS, flattened=True).decode(pa.array([write(FLAT, WRITTEN)]))
    assert flat.bad == ()
    assert flat.columns.to_pylist() == [READ]


def test_deletions_and_bad_changes_cost_no_other_row(lookup: KnownSchemas, write: Write) -> None:
    columns = "id INT NOT NULL, name STRING, exact TIMESTAMP_NTZ"
    values = [
        write(ENVELOPE, change("c", {"id": 1, "name": "Ann"})),
        write(ENVELOPE, change("d", before={"id": 2})),
        None,
        write(ENVELOPE, change("t")),
        write(ENVELOPE, change("u", {"id": 4, "exact": 2**62})),
        write(VALUE, {"id": 5}),
        write(ENVELOPE, change("r", {"id": 6}))[:-1],
    ]
    batch = changes(lookup, columns).decode(pa.array(values, pa.binary()))
    assert [row["name"] for row in batch.columns.to_pylist()] == ["Ann", *[None] * 6]
    assert batch.deletions is not None
    assert batch.deletions.rows.to_pylist() == [False, True, *[False] * 5]
    assert batch.keys("id").to_pylist()[:3] == [b"1", b"2", None]
    assert [bad.index for bad in batch.bad] == [3, 4, 5, 6]
    assert batch.bad[0].reason.startswith('op "t": the table was truncated')
    assert "are no time in the years 1 to 9999" in batch.bad[1].reason
    assert batch.bad[2].reason.startswith('no change of a row: it has no "op"')


def test_a_flattened_deletion_has_the_key_of_its_row(lookup: KnownSchemas, write: Write) -> None:
    form = changes(lookup, "id INT NOT NULL, name STRING", flattened=True)
    rows = [{"id": 1, "name": "Ann", "__deleted": "false"}, {"id": 2, "name": "Bob", "__deleted": "true"}]
    batch = form.decode(pa.array([write(FLAT, row) for row in rows]))
    assert batch.bad == ()
    assert [row["name"] for row in batch.columns.to_pylist()] == ["Ann", None]
    assert batch.keys("id").to_pylist() == [b"1", b"2"]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("id TIMESTAMP_NTZ", "after.id: integer is written there as integer, the column is timestamp[us]"),
        (
            "exact TIMESTAMP",
            f"after.exact: {TIME}.MicroTimestamp is written there as integer, the column is ",
        ),
        ("price STRING", f"after.price: {CONNECT}.Decimal is written there as bytes, the column is string"),
        ("name DATE", "after.name: string is written there as string, the column is date32"),
        ("tags ARRAY<INT>", "after.tags[]: string is written there as string, the column is int32"),
        ("attrs MAP<STRING, INT>", "after.attrs: object is written there as object, the column is map<"),
    ],
)
def test_a_column_of_another_type_is_refused_with_its_path(
    lookup: KnownSchemas, write: Write, columns: str, reason: str
) -> None:
    batch = changes(lookup, columns, key=None).decode(pa.array([write(ENVELOPE, change("c", WRITTEN))]))
    assert [f"cannot be read as the stream's columns: {reason}" in bad.reason for bad in batch.bad] == [True]


def test_keys_are_objects_of_one_field_or_values_alone(lookup: KnownSchemas, write: Write) -> None:
    form = changes(lookup, "id INT NOT NULL, name STRING")
    keys = [write(KEY, {"id": 7}), write(LONE_KEY, 8), b'{"id": 9}', None]
    read = form.read_keys(pa.array(keys, pa.binary()))
    assert read.faults == {}
    assert read.keys.to_pylist() == [b"7", b"8", b"9", None]
    wide = form.read_keys(pa.array([write(WIDE_KEY, {"id": 7, "shard": 1}), b"8"]))
    assert wide.keys.to_pylist() == [None, b"8"]
    assert wide.faults.keys() == {0}
    assert wide.faults[0].startswith("its key: schema id ")


def test_keys_are_messages_of_one_field() -> None:
    schemas: dict[SchemaId, RegisteredSchema] = {}
    for number, names in enumerate((["id"], ["id", "shard"]), 1):
        file = FileDescriptorProto(name="key.proto", syntax="proto3")
        message = file.message_type.add(name="Key")
        for place, name in enumerate(names, 1):
            message.field.add(name=name, number=place, type=FieldDescriptorProto.TYPE_INT32, label=1)
        schemas[number] = RegisteredSchema("PROTOBUF", b64encode(file.SerializeToString()).decode())
    form = changes(KnownSchemas(schemas), "id INT NOT NULL")
    read = form.read_keys(pa.array([b"\0\0\0\0\x01\0\x08\x07", b"\0\0\0\0\x02\0\x08\x07\x10\x01"]))
    assert read.keys.to_pylist() == [b"7", None]
    assert read.faults.keys() == {1}


def test_columns_of_the_registry_are_those_of_the_table() -> None:
    fields = {"name": "s", "system": "m", "format": "debezium", "registry": True}
    stream = Stream.model_validate(fields)
    schema = RegisteredSchema("JSON", json.dumps(ENVELOPE))
    assert column_list(stream_columns(schema, stream).columns) == COLUMNS
    flat = Stream.model_validate({**fields, "flattened": True})
    refused = {**VALUE, "properties": {**FIELDS, "inner": {"$ref": "#"}}}
    found = stream_columns(RegisteredSchema("JSON", json.dumps(refused)), flat)
    assert column_list(found.columns) == COLUMNS
    assert found.left_out == {"inner": 'it refers to "#", which is not read in changes'}


def test_changes_in_protobuf_are_refused_with_a_mend() -> None:
    schema = RegisteredSchema("PROTOBUF", 'syntax = "proto3"; message Envelope { string op = 1; }')
    form = changes(KnownSchemas({1: schema}), "id INT NOT NULL")
    (bad,) = form.decode(pa.array([b"\0\0\0\0\x01\0"])).bad
    mend = "set the connector's value.converter to the converter of Avro or JSON Schema"
    assert bad.reason.endswith(f"changes in Protobuf are not read; {mend}")
    stream = Stream.model_validate({"name": "s", "system": "m", "format": "debezium", "registry": True})
    with pytest.raises(UnresolvableSchemaError, match="changes in Protobuf are not read"):
        stream_columns(schema, stream)


def written(lookup: KnownSchemas, schema: dict[str, Any], rows: list[dict[str, Any]], columns: str) -> Any:
    """Changes by a schema, which the lookup gets."""
    lookup.schemas[1] = RegisteredSchema("JSON", json.dumps(schema))
    made = change_columns(parse_columns(columns), flattened=schema is not ENVELOPE)
    form = change_writer(made, ResolvedWriterSchema(1, json.dumps(schema)), "JSON")
    return form.encode(pa.RecordBatch.from_pylist(rows, form.schema))


def test_changes_are_written_by_the_schema_of_a_connector(lookup: KnownSchemas) -> None:
    envelopes = [{"before": None, "after": each, "op": "c"} for each in (READ, {**NOTHING, "id": 2})]
    values = written(lookup, ENVELOPE, envelopes, COLUMNS)
    seen = {"seen": "2026-01-31T12:00:00Z", "finest": SECONDS * 1_000_000_000 + 8_000}
    assert json.loads(values[0].as_py()[5:]) == {
        "before": None,
        "after": {**WRITTEN, **seen},
        "source": {"ts_ms": 0},
        "op": "c",
        "ts_ms": None,
    }
    assert json.loads(values[1].as_py()[5:])["after"] == {**NOTHING, "id": 2}
    batch = changes(lookup, COLUMNS).decode(values)
    assert (batch.bad, batch.columns.to_pylist()) == ((), [READ, {**NOTHING, "id": 2}])
    flat = written(lookup, FLAT, [{"id": 7, "__deleted": "true"}], "id INT")
    assert json.loads(flat[0].as_py()[5:]) == {**NOTHING, "id": 7, "__deleted": "true"}


def test_a_row_before_may_say_its_key_alone(lookup: KnownSchemas) -> None:
    columns = "id INT, name STRING"
    (value,) = written(lookup, ENVELOPE, [{"before": {"name": "Ann"}, "op": "d"}], columns).to_pylist()
    change_read = json.loads(value[5:])
    assert (change_read["op"], change_read["after"]) == ("d", None)
    assert change_read["before"] == {**NOTHING, "id": 0, "name": "Ann"}


@pytest.mark.parametrize(
    ("schema", "row", "columns", "fault"),
    [
        (FLAT, {"id": None}, "id INT", "^id: it is null, and must not be by the schema"),
        (FLAT, {"id": 1, "age": 2}, "id INT, age INT", "^age: the schema has no such field"),
        (FLAT, {"id": 1, "price": Decimal("0.001")}, "id INT, price DECIMAL(9,3)", "more digits than its"),
        (
            FLAT,
            {"id": 1, "rate": 10**18 + Decimal("0.001")},
            "id INT, rate DECIMAL(38,3)",
            "more digits than a",
        ),
    ],
)
def test_a_change_that_the_schema_has_no_place_for_is_refused(
    lookup: KnownSchemas, schema: dict[str, Any], row: dict[str, Any], columns: str, fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        written(lookup, schema, [row], columns)

"""The columns of registered schemas: they hold each record, and what no column holds is named."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema, column_list
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.formats.json.registered_json import JSON
from streamapp_runtime.formats.schema_difference import schema_columns, schema_difference
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaDependency,
    UnresolvableSchemaError,
)
from tests.harness.engine.avro_schemas import Evolution, evolutions
from tests.harness.engine.known_schemas import KnownSchemas
from tests.harness.engine.protobuf_schemas import ProtobufRecords, as_rows, protobuf_records

FRAME = b"\0\0\0\0\x07"


def rows(form: str, registered: RegisteredSchema, columns: str, values: list[bytes]) -> list[dict[str, Any]]:
    reading = open_format(
        form, parse_columns(columns), FormatOptions(registry=True), KnownSchemas({7: registered})
    )
    decoded = reading.decode(pa.array([FRAME + value for value in values], pa.binary()))
    assert decoded.bad == ()
    return decoded.columns.to_pylist(maps_as_pydicts="strict" if form == "avro" else None)


@given(made=evolutions())
def test_records_of_avro_are_read_whole(made: Evolution) -> None:
    registered = RegisteredSchema("AVRO", json.dumps(made.written))
    found = schema_columns(registered)
    assert found.left_out == {}
    schema = fastavro.parse_schema(made.written)
    expected = [fastavro.schemaless_reader(BytesIO(value), schema, None) for value in made.values]
    assert rows("avro", registered, column_list(found.columns), made.values) == expected


@given(made=protobuf_records())
def test_messages_of_protobuf_are_read_whole(made: ProtobufRecords) -> None:
    registered = RegisteredSchema("PROTOBUF", made.text)
    if not made.message_class.DESCRIPTOR.fields:
        with pytest.raises(UnresolvableSchemaError, match="has no field that a column holds"):
            schema_columns(registered)
        return
    found = schema_columns(registered)
    assert found.left_out == {}
    assert set(found.columns.names) == set(made.message_class.DESCRIPTOR.fields_by_name)
    whole = replace(made, columns=column_list(found.columns))
    read = rows("protobuf", registered, whole.columns, [b"\0" + message for message in made.messages])
    assert as_rows(read) == as_rows([whole.expected(message) for message in made.messages])


def test_rows_of_json_are_read_back_by_the_columns_of_their_own_schema() -> None:
    schema = arrow_schema(
        parse_columns(
            "c0 TINYINT, c1 BIGINT, c2 DOUBLE, c3 BOOLEAN, c4 STRING, c5 TIMESTAMP, c6 DECIMAL(9,2), "
            "c7 ARRAY<INT>, c8 MAP<STRING, DATE>, part STRUCT<a: INT, b: STRING>"
        )
    )
    names = schema.names
    values = [1, 2, 0.5, True, "x", datetime(2026, 1, 2, tzinfo=UTC), Decimal("1.50"), [1, None]]
    row = dict(zip(names, [*values, {"k": date(2026, 1, 2)}, {"a": 1, "b": None}], strict=True))
    batch = pa.RecordBatch.from_pylist([row, dict.fromkeys(names)], schema=schema)
    registered = RegisteredSchema("JSON", JSON.own_schema(schema))
    found = schema_columns(registered)
    assert column_list(found.columns) == (
        "c0 BIGINT, c1 BIGINT, c2 DOUBLE, c3 BOOLEAN, c4 STRING, c5 STRING, c6 DOUBLE, c7 ARRAY<BIGINT>, "
        "c8 MAP<STRING, STRING>, part STRUCT<a: BIGINT, b: STRING>"
    )
    texts = json_records(batch).cast(pa.binary()).to_pylist()
    first, last = rows("json", registered, column_list(found.columns), texts)
    assert first | {"c5": None} == row | {"c5": None, "c6": 1.5, "c8": [("k", "2026-01-02")]}
    assert last == dict.fromkeys(names)


def record(*fields: tuple[str, Any]) -> RegisteredSchema:
    parts = [{"name": name, "type": kind} for name, kind in fields]
    return RegisteredSchema("AVRO", json.dumps({"type": "record", "name": "Row", "fields": parts}))


def document(**properties: Any) -> RegisteredSchema:
    of_parts = {"part": {"type": "array", "items": {"$ref": "#/$defs/item"}}, "item": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "$defs": of_parts}
    other = json.dumps({"definitions": {"city": {"type": ["null", "string"]}}})
    return RegisteredSchema("JSON", json.dumps(schema), (SchemaDependency("other.json", other),))


@pytest.mark.parametrize(
    ("registered", "columns", "left_out"),
    [
        (record(("n", ["int", "long"]), ("t", ["string", "bytes"])), "n BIGINT, t BINARY", {}),
        (record(("x", "int"), ("u", ["int", "string"])), "x INT", {"u": "it is a union of int and string"}),
        (record(("x", "int"), ("none", "null")), "x INT", {"none": "nothing but null is written there"}),
        (
            record(("x", "int"), ("big", {"type": "bytes", "logicalType": "decimal", "precision": 50})),
            "x INT, big BINARY",
            {},
        ),
        (
            document(
                at={"oneOf": [{"type": "null"}, {"type": "string", "format": "date-time"}]},
                raw={"type": "string", "contentEncoding": "base64"},
                kind={"enum": ["A", "B", None]},
                parts={"$ref": "#/$defs/part"},
                city={"$ref": "other.json#/definitions/city"},
                rates={"type": "object", "additionalProperties": {"type": ["integer", "number"]}},
            ),
            "at TIMESTAMP, raw BINARY, kind STRING, parts ARRAY<BIGINT>, city STRING, "
            "rates MAP<STRING, DOUBLE>",
            {},
        ),
        (
            record(("next", ["null", "Row"]), ("a", "int")),
            "a INT",
            {"next": '"Row" contains itself, which no column can'},
        ),
        (
            document(
                x={"type": "integer"},
                any=True,
                open={"type": "object"},
                several={"anyOf": [{"type": "integer"}, {"type": "string"}]},
                lost={"$ref": "#/$defs/none"},
                untyped={},
            ),
            "x BIGINT",
            {
                "any": "any value may be written there",
                "open": "it is an object of any fields",
                "several": "it is anyOf of several types",
                "lost": "which is not there",
                "untyped": "its type is not said",
            },
        ),
    ],
)
def test_the_columns_of_a_schema(
    registered: RegisteredSchema, columns: str, left_out: dict[str, str]
) -> None:
    found = schema_columns(registered)
    assert column_list(found.columns) == columns
    assert found.left_out.keys() == left_out.keys()
    assert all(reason in found.left_out[path] for path, reason in left_out.items())


@pytest.mark.parametrize(
    ("registered", "message"),
    [
        (RegisteredSchema("AVRO", '"string"'), "it is no record but string"),
        (RegisteredSchema("AVRO", '{"type": "rekord"}'), "is no Avro schema"),
        (RegisteredSchema("JSON", '{"type": "array", "items": {"type": "string"}}'), "no objects with"),
        (RegisteredSchema("XML", "<a/>"), "is of XML, which no format reads"),
        (record(("next", ["null", "Row"])), '"Row" has no field that a column holds'),
        (RegisteredSchema("AVRO", json.dumps({"type": "record", "name": "R", "fields": []})), "no field"),
    ],
)
def test_a_schema_without_columns_is_refused(registered: RegisteredSchema, message: str) -> None:
    with pytest.raises(UnresolvableSchemaError, match=message):
        schema_columns(registered)


@pytest.mark.usefixtures("process")
def test_the_columns_of_a_text_of_protobuf() -> None:
    text = """
        syntax = "proto3";
        import "google/protobuf/struct.proto";
        message A {
          int32 x = 1; google.protobuf.Struct s = 2; map<uint64, A> m = 3; map<uint64, bool> b = 4;
        }
    """
    found = schema_columns(RegisteredSchema("PROTOBUF", text))
    plain = "null_value: STRING, number_value: DOUBLE, string_value: STRING, bool_value: BOOLEAN"
    struct = f"STRUCT<fields: MAP<STRING, STRUCT<{plain}>>>"
    assert column_list(found.columns) == f"x INT, s {struct}, b MAP<BIGINT, BOOLEAN>"
    assert list(found.left_out) == [
        "s.fields{}.struct_value",
        "s.fields{}.list_value.values[]",
        "s.fields{}.list_value",
        "m{}",
    ]
    with pytest.raises(UnresolvableSchemaError, match="is no Protobuf schema"):
        schema_columns(RegisteredSchema("PROTOBUF", "message {"))


def stream(**fields: Any) -> Stream:
    return Stream.model_validate({"name": "s", "system": "m", "format": "avro", "registry": True, **fields})


def test_the_difference_is_that_of_the_newest_schema_and_each_version_is_read() -> None:
    old, new = record(("a", "string"), ("n", "int")), record(("n", "int"), ("b b", ["null", "string"]))
    found = schema_difference(stream(columns="a STRING NOT NULL, n BIGINT"), "s-value", {1: old, 3: new})
    assert found.lines() == [
        "s: s-value, versions 1 to 3",
        "  new      `b b` STRING",
        "  missing  a: the schema has no such field",
        "  type     n: BIGINT, the schema has INT",
        "  refused  version 3 lacks a, which is NOT NULL",
    ]


def test_a_version_that_cannot_be_read_is_refused_whichever_it_is() -> None:
    old, new = record(("n", "string")), record(("n", "long"))
    found = schema_difference(stream(columns="n BIGINT"), "s-value", {1: old, 2: new})
    assert found.lines()[1:] == [
        "  refused  version 1 cannot be read as the stream's columns: "
        "n: string is written there, the column is int64"
    ]
    other = schema_difference(stream(columns="n BIGINT"), "s-value", {1: document(n={"type": "integer"})})
    assert other.refused == ["version 1 is of JSON, and the stream's format is avro"]


def test_a_default_of_the_streams_own_schema_fills_a_column_that_is_missing() -> None:
    own = {"type": "record", "name": "Row", "fields": [{"name": "a", "type": "string", "default": "x"}]}
    declared = stream(columns="a STRING NOT NULL", avroSchema=json.dumps(own))
    assert schema_difference(declared, "s-value", {1: record(("n", "int"))}).refused == []

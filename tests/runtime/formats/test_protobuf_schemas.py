"""Schemas of Protobuf as texts, which protoc compiles, and what of them and their records is refused."""

from base64 import b64encode

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.protobuf import schema_files
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaCompilerError,
    SchemaDependency,
    UnresolvableSchemaError,
)
from tests.harness.engine.known_schemas import KnownSchemas

pytestmark = pytest.mark.usefixtures("process")
FRAME = b"\0\0\0\0\x07\0"


def decoded(schema: RegisteredSchema, columns: str, values: list[bytes | None]) -> DecodedBatch:
    options = FormatOptions(registry=True)
    form = open_format("protobuf", parse_columns(columns), options, KnownSchemas({7: schema}))
    return form.decode(pa.array(values, pa.binary()))


def file_of(text: str, **dependencies: str) -> RegisteredSchema:
    needed = tuple(SchemaDependency(name, each) for name, each in dependencies.items())
    return RegisteredSchema("PROTOBUF", f'syntax = "proto3"; {text}', needed)


REFUSED = [
    ("message A { int64 a = 1; }", "a INT", "a: int64 is written there, the column is int32"),
    ("message A { repeated int32 a = 1; }", "a INT", "a: repeated int32 is written there"),
    ("message A { A a = 1; }", "a STRUCT<a: STRUCT<b: INT>>", 'a: "A" contains itself'),
    (
        "message A { map<string, A> a = 1; }",
        "a MAP<STRING, STRUCT<b: INT>>",
        'a{}.value: "A" contains itself',
    ),
    (
        'import "google/protobuf/struct.proto"; message A { google.protobuf.Struct a = 1; }',
        "a STRING",
        "a: message google.protobuf.Struct is written there, the column is string",
    ),
    ("message A { B a = 1; }", "a INT", "is no Protobuf schema: "),
    ('import "other.proto"; message A { int32 a = 1; }', "a INT", "other.proto"),
    ("enum E { X = 0; }", "a INT", "its indexes [0] are those of no message of the schema"),
]


@pytest.mark.parametrize(("text", "columns", "reason"), REFUSED)
def test_a_schema_that_cannot_be_read_says_why(text: str, columns: str, reason: str) -> None:
    (bad,) = decoded(file_of(text), columns, [FRAME]).bad
    assert reason in bad.reason


def test_a_compiler_that_does_not_end_makes_no_record_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = file_of("message A { int32 a = 1; }")
    form = open_format(
        "protobuf", parse_columns("a INT"), FormatOptions(registry=True), KnownSchemas({7: schema})
    )
    records = pa.array([FRAME + b"\x08\x05"], pa.binary())
    with monkeypatch.context() as patched, pytest.raises(SchemaCompilerError, match="protoc cannot be run"):
        patched.setattr(schema_files, "_COMPILER_SECONDS", 0.0)
        form.decode(records)
    assert form.decode(records).columns.to_pylist() == [{"a": 5}]


def test_a_text_that_is_no_schema_is_none_to_write_by() -> None:
    with pytest.raises(UnresolvableSchemaError, match="schema id 7 is no Protobuf schema"):
        PROTOBUF.check_writable(pa.schema([("a", pa.int32())]), ResolvedWriterSchema(7, "message {", ()))


DAMAGED = [
    (b"", "the record ends early"),
    (b"\0\x0d\0\0", "the record ends early"),
    (b"\0\x0a\x02\xff\xff", "a text is no valid UTF-8"),
    (b"\0\x1b", "the field 3 is a group"),
    (b"\0\x0f", "the field 1 is of the unknown type 7"),
    (b"\0\0", "a field has the number 0"),
    (b"\0\x10\x07", "an enum has no name for its number"),
    (b"\0" + b"\xff" * 10, "a number has more than ten bytes"),
    (b"\x02\x04", "its indexes [2] are those of no message of the schema"),
    (b"\x02\x01", "are those of no message of the schema"),
    (b"\x01", "are those of no message of the schema"),
    (b"\x04\x02", "the record ends early"),
]


def test_a_record_that_is_none_of_its_schema_says_why_and_others_are_read() -> None:
    schema = file_of("message A { string a = 1; E e = 2; } message B { string a = 1; } enum E { X = 0; }")
    good = FRAME + b"\x0a\x01x"
    batch = decoded(
        schema, "a STRING, e STRING", [good, *(FRAME[:5] + value for value, _ in DAMAGED), None, good]
    )
    assert batch.columns.column("a").to_pylist() == ["x", *[None] * (len(DAMAGED) + 1), "x"]
    assert [bad.index for bad in batch.bad] == list(range(1, len(DAMAGED) + 1))
    for bad, (_, reason) in zip(batch.bad, DAMAGED, strict=True):
        assert bad.reason.startswith("schema id 7: ")
        assert reason in bad.reason


def test_each_record_is_read_by_the_message_that_it_names() -> None:
    text = "message A { message In { string a = 5; } int32 b = 1; } message B { string a = 1; }"
    values = [
        b"\x02\x02\x0a\x01x",
        b"\x04\x00\x00\x2a\x01y",
        b"\x02\x00\x0a\x01z",
        b"\0",
        b"\x02\x02\x0a\x01w",
    ]
    batch = decoded(file_of(text), "a STRING", [FRAME[:5] + value for value in values])
    assert batch.bad == ()
    assert batch.columns.column("a").to_pylist() == ["x", "y", None, None, "w"]


def test_files_are_imported_by_two_ways_as_texts_and_as_descriptors() -> None:
    money = 'syntax = "proto3"; package of.money; message Money { int64 cents = 1; }'
    tax = FileDescriptorProto(name="registered.proto", syntax="proto3", dependency=["money.proto"])
    tax.message_type.add(name="Tax").field.add(
        name="due", number=1, type=11, label=1, type_name=".of.money.Money"
    )
    item = 'syntax = "proto3"; import "money.proto"; message Item { of.money.Money price = 1; }'
    text = (
        'import "parts/item.proto"; import "tax.proto"; import "confluent/meta.proto";'
        'message Order { Item item = 1 [(confluent.field_meta).doc = "sold"]; Tax tax = 2; }'
    )
    needed = (
        SchemaDependency("money.proto", money),
        SchemaDependency("parts/item.proto", item),
        SchemaDependency("tax.proto", b64encode(tax.SerializeToString()).decode()),
    )
    schema = RegisteredSchema("PROTOBUF", f'syntax = "proto3"; {text}', needed)
    batch = decoded(schema, "tax STRUCT<due: STRUCT<cents: BIGINT>>", [FRAME + b"\x12\x04\x0a\x02\x08\x05"])
    assert batch.columns.to_pylist() == [{"tax": {"due": {"cents": 5}}}]


def test_a_file_is_not_written_outside_the_compilers_folder() -> None:
    schema = RegisteredSchema("PROTOBUF", "message A {}", (SchemaDependency("../a.proto", "message B {}"),))
    (bad,) = decoded(schema, "a INT", [FRAME]).bad
    assert bad.reason == 'schema id 7 is no Protobuf schema: it imports a file of the name "../a.proto"'


COLUMNS = (
    "a TINYINT, b BIGINT, c FLOAT, d DOUBLE, e BOOLEAN, f STRING, g BINARY, h TIMESTAMP, "
    "i ARRAY<STRING>, j MAP<BIGINT, STRUCT<x: INT, y: ARRAY<TIMESTAMP>>>, k STRUCT<z: STRING>"
)


def test_a_schema_of_the_columns_has_a_place_for_every_row() -> None:
    form = open_format("json", parse_columns(COLUMNS))
    rows = form.decode(
        pa.array(
            [
                b'{"a": 1, "b": 2, "c": 0.5, "d": 1e300, "e": true, "f": "x", "g": "AA==", "i": ["a", ""], '
                b'"h": "2026-01-31T12:00:00.123456Z", "j": {"7": {"x": 1, "y": []}}, "k": {"z": null}}',
                b"{}",
            ]
        )
    ).columns
    text = PROTOBUF.own_schema(form.schema)
    writer = ResolvedWriterSchema(7, text)
    PROTOBUF.check_writable(form.schema, writer)
    options = FormatOptions(registry=True, writer=writer)
    written = open_format(
        "protobuf", parse_columns(COLUMNS), options, KnownSchemas({7: RegisteredSchema("PROTOBUF", text)})
    )
    first, second = written.decode(written.encode(rows)).columns.to_pylist()
    assert first == rows.to_pylist()[0]
    assert second == {**rows.to_pylist()[1], "i": [], "j": []}


UNWRITABLE = [
    ("a INT, b INT", "b: the schema has no such field"),
    ("a BIGINT", "a: the column is int64, which int32 has no place for"),
    ("e INT", "e: the column is int32, which enum E has no place for"),
    ("r INT", "r: the column is int32, which repeated int32 has no place for"),
]


def test_columns_without_a_place_in_the_schema_are_refused_with_their_path() -> None:
    schema = file_of("message A { int32 a = 1; E e = 2; repeated int32 r = 3; } enum E { X = 0; }")
    for columns, reason in UNWRITABLE:
        with pytest.raises(UnresolvableSchemaError) as refused:
            kinds = open_format("json", parse_columns(columns)).schema
            PROTOBUF.check_writable(kinds, ResolvedWriterSchema(7, schema.text))
        assert str(refused.value) == reason

"""Records that name their schema: each is read by its own, and what cannot be read says why."""

import json
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.record_format import DecodedBatch
from streamapp_runtime.formats.registry.schema_frames import with_header_frames
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import (
    RegisteredSchema,
    SchemaDependency,
)
from streamapp_runtime.systems.stream_system import HEADERS, UnavailableError
from tests.harness.engine.avro_schemas import record_bytes
from tests.harness.engine.known_schemas import KnownSchemas

USERS = {"type": "record", "name": "User", "fields": [{"name": "user", "type": "string"}]}
TIERED = {
    "type": "record",
    "name": "User",
    "fields": [{"name": "tier", "type": ["null", "int"]}, {"name": "user", "type": "string"}],
}
GUID = UUID("89791762-2336-4186-9674-299b90a802e2")


def avro(schema: Any, **fields: Any) -> RegisteredSchema:
    return RegisteredSchema("AVRO", json.dumps(schema), **fields)


def numbered(schema_id: int, value: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4) + value


def decoded(
    schemas: KnownSchemas,
    values: list[bytes | None],
    columns: str = "user STRING, tier BIGINT",
    own: Any = None,
) -> DecodedBatch:
    options = FormatOptions(json.dumps(own) if own else None, registry=True)
    return open_format("avro", parse_columns(columns), options, schemas).decode(pa.array(values, pa.binary()))


def faults(batch: DecodedBatch) -> dict[int, str]:
    return {bad.index: bad.reason for bad in batch.bad}


def test_each_record_is_read_by_the_schema_that_it_names() -> None:
    schemas = KnownSchemas({7: avro(USERS), 300: avro(TIERED), GUID: avro(TIERED)})
    values = [
        numbered(300, record_bytes(TIERED, {"tier": 1, "user": "ann"})),
        None,
        numbered(7, record_bytes(USERS, {"user": "bob"})),
        b"\x01" + GUID.bytes + record_bytes(TIERED, {"tier": None, "user": "cyd"}),
        numbered(300, record_bytes(TIERED, {"tier": 2, "user": "dan"})),
    ]
    batch = decoded(schemas, values)
    assert batch.bad == ()
    assert batch.columns.to_pydict() == {
        "user": ["ann", None, "bob", "cyd", "dan"],
        "tier": [1, None, None, None, 2],
    }
    assert sorted(schemas.asked, key=str) == [300, 7, GUID]


def test_what_is_wrong_with_a_record_is_said_with_its_schema_and_others_are_read() -> None:
    text = {"type": "record", "name": "User", "fields": [{"name": "user", "type": "int"}]}
    schemas = KnownSchemas(
        {
            7: avro(USERS),
            8: avro(text),
            9: RegisteredSchema("PROTOBUF", 'syntax = "proto3";'),
            10: avro(USERS, rules=("encryptPII",)),
            11: RegisteredSchema("AVRO", '{"type": "nothing"}'),
        }
    )
    good = numbered(7, record_bytes(USERS, {"user": "ann"}))
    values = [good, numbered(7, b"\x08a"), *(numbered(number, b"\x02a") for number in (6, 8, 9, 10, 11))]
    values += [
        numbered(0, b"\0\0\0\x07\x02a"),
        b"",
        b'{"user": "ann"}',
        b"\0\0\0",
        b"\x01" + GUID.bytes[:8],
        good,
    ]
    batch = decoded(schemas, values)
    said = faults(batch)
    assert batch.columns.column("user").to_pylist() == ["ann", *[None] * 11, "ann"]
    assert said.pop(6).startswith("schema id 11 is no Avro schema: ")
    assert said == {
        1: "schema id 7: the record ends early",
        2: "schema id 6: the registry says: not found",
        3: "schema id 8 cannot be read as the stream's columns: "
        "user: int is written there, the column is string",
        4: "schema id 9 is of PROTOBUF, and the stream's format is avro",
        5: "schema id 10 has rules that readers have to apply, and none is applied here: encryptPII",
        7: "schema id 0, which no registry gives: the ids of its serializer have eight bytes; set it to four",
        8: "it is empty, and has no frame of a schema registry",
        9: "it has no frame of a schema registry: it begins with the byte 0x7b",
        10: "it ends within its frame of a schema registry, after 3 bytes",
        11: "it ends within its frame of a schema registry, after 9 bytes",
    }


def test_a_registry_that_is_away_makes_no_record_bad_and_is_asked_again() -> None:
    schemas = KnownSchemas({7: avro(USERS)})
    schemas.is_away = True
    form = open_format("avro", parse_columns("user STRING"), FormatOptions(registry=True), schemas)
    values = pa.array([numbered(7, record_bytes(USERS, {"user": "ann"}))])
    with pytest.raises(UnavailableError):
        form.decode(values)
    schemas.is_away = False
    assert form.decode(values).columns.to_pylist() == [{"user": "ann"}]
    assert form.decode(values).bad == ()
    assert schemas.asked == [7, 7]


def test_an_id_that_is_registered_later_is_read_from_then_on() -> None:
    schemas = KnownSchemas({})
    form = open_format("avro", parse_columns("user STRING"), FormatOptions(registry=True), schemas)
    values = pa.array([numbered(7, record_bytes(USERS, {"user": "ann"}))])
    assert len(form.decode(values).bad) == 1
    schemas.schemas[7] = avro(USERS)
    assert form.decode(values).columns.to_pylist() == [{"user": "ann"}]


def test_the_streams_own_schema_has_aliases_and_defaults_for_what_writers_have_not() -> None:
    fields = [
        {"name": "name", "type": "string", "aliases": ["user"]},
        {"name": "tier", "type": "long", "default": 3},
    ]
    own = {"type": "record", "name": "User", "fields": fields}
    batch = decoded(
        KnownSchemas({7: avro(USERS)}), [numbered(7, b"\x02a")], "name STRING, tier BIGINT NOT NULL", own
    )
    assert batch.columns.to_pylist() == [{"name": "a", "tier": 3}]


def test_types_of_schemas_that_are_referred_to_are_known() -> None:
    outer = {
        "type": "record",
        "name": "Visit",
        "fields": [{"name": "by", "type": "User"}, {"name": "of", "type": "User"}],
    }
    schemas = KnownSchemas({7: avro(outer, dependencies=(SchemaDependency("User", json.dumps(USERS)),))})
    batch = decoded(schemas, [numbered(7, b"\x02a\x02b")], "of STRUCT<user: STRING>")
    assert batch.columns.to_pylist() == [{"of": {"user": "b"}}]


def test_a_header_names_the_schema_before_what_the_value_begins_with() -> None:
    header = {"name": "__value_schema_id", "value": b"\x01" + GUID.bytes}
    headers = pa.array([[{"name": "other", "value": b"x"}, header], [], None, [header]], HEADERS.type)
    plain = record_bytes(USERS, {"user": ""})
    values = pa.array([plain, numbered(7, plain), None, None])
    framed = with_header_frames(values, headers)
    assert framed.to_pylist() == [b"\x01" + GUID.bytes + plain, numbered(7, plain), None, None]
    assert decoded(KnownSchemas({7: avro(USERS), GUID: avro(USERS)}), framed.to_pylist()).bad == ()

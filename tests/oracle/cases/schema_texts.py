"""Schemas of a registry, written from columns without the product: of Avro, of Protobuf, of JSON."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from tests.oracle.cases.resource_reading import RECORD_NAME

ADDED: Final = "added"
"""The field that a later version has, and for which there is no column."""
_STRUCT: Final = "STRUCT<a: INT, b: STRING>"
_HEADERS: Final = "ARRAY<STRUCT<name: STRING, value: BINARY>>"
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+), (\d+)\)")
_AVRO: Final[Mapping[str, Any]] = {
    "BOOLEAN": "boolean",
    "TINYINT": "int",
    "SMALLINT": "int",
    "INT": "int",
    "BIGINT": "long",
    "FLOAT": "float",
    "DOUBLE": "double",
    "STRING": "string",
    "BINARY": "bytes",
    "DATE": {"type": "int", "logicalType": "date"},
    "TIMESTAMP": {"type": "long", "logicalType": "timestamp-micros"},
    "TIMESTAMP_NTZ": {"type": "long", "logicalType": "local-timestamp-micros"},
    "ARRAY<INT>": {"type": "array", "items": ["null", "int"]},
    "MAP<STRING, INT>": {"type": "map", "values": ["null", "int"]},
    "MAP<STRING, BINARY>": {"type": "map", "values": ["null", "bytes"]},
}
_PROTOBUF: Final[Mapping[str, "FieldDescriptorProto.Type.ValueType"]] = {
    "BOOLEAN": FieldDescriptorProto.TYPE_BOOL,
    "TINYINT": FieldDescriptorProto.TYPE_INT32,
    "SMALLINT": FieldDescriptorProto.TYPE_SINT32,
    "INT": FieldDescriptorProto.TYPE_SFIXED32,
    "BIGINT": FieldDescriptorProto.TYPE_INT64,
    "FLOAT": FieldDescriptorProto.TYPE_FLOAT,
    "DOUBLE": FieldDescriptorProto.TYPE_DOUBLE,
    "STRING": FieldDescriptorProto.TYPE_STRING,
    "BINARY": FieldDescriptorProto.TYPE_BYTES,
    "TIMESTAMP": FieldDescriptorProto.TYPE_MESSAGE,
    _STRUCT: FieldDescriptorProto.TYPE_MESSAGE,
}
"""The types that Protobuf has a field for which can be null, and so can all that is in it."""


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """A schema, and the columns that it has a field for, each with the type of its values."""

    text: str
    kinds: Mapping[str, str]


def fitting_forms(kinds: Collection[str]) -> list[str]:
    """The formats of a registry that have a field for all these types."""
    return ["avro", "avro", "json", *["protobuf", "protobuf"] * (set(kinds) <= _PROTOBUF.keys())]


def schema_text(form: str, columns: Mapping[str, str]) -> str:
    """A schema with a field for each column, in their order."""
    return _TEXTS[form](columns)


def lone_schema_text(form: str, kind: str) -> str:
    """A schema of Avro or JSON for values of a type without a record around them."""
    if form == "avro":
        return json.dumps(_avro_type("", kind))
    types = {"BOOLEAN": "boolean", "INT": "integer", "BIGINT": "integer"}
    return json.dumps({"type": types.get(kind, "string")})


def _avro_text(columns: Mapping[str, str]) -> str:
    fields = [
        {"name": name, "type": ["null", _avro_type(name, kind)], "default": None}
        for name, kind in columns.items()
    ]
    return json.dumps({"type": "record", "name": RECORD_NAME, "fields": fields})


def _avro_type(name: str, kind: str) -> Any:
    if decimal := _DECIMAL.fullmatch(kind):
        precision, scale = map(int, decimal.groups())
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    if kind == _STRUCT:
        return _avro_record(name, {"a": "int", "b": "string"})
    if kind == _HEADERS:
        return {"type": "array", "items": _avro_record(name, {"name": "string", "value": "bytes"})}
    return _AVRO[kind]


def _avro_record(name: str, types: Mapping[str, str]) -> Any:
    fields = [{"name": field, "type": ["null", kind]} for field, kind in types.items()]
    return {"type": "record", "name": f"In_{name}", "fields": fields}


def _json_text(columns: Mapping[str, str]) -> str:
    return json.dumps(
        {"type": "object", "title": RECORD_NAME, "properties": {column: {} for column in columns}}
    )


def _protobuf_text(columns: Mapping[str, str]) -> str:
    """The descriptor in base64, as some clients register it: no compiler has to be started for it."""
    file = FileDescriptorProto(name="row.proto", package="oracle", syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    message = _protobuf_message("Row", columns)
    if _STRUCT in columns.values():
        message.nested_type.append(_protobuf_message("In", {"a": "INT", "b": "STRING"}))
    file.message_type.append(message)
    return b64encode(file.SerializeToString()).decode()


def _protobuf_message(name: str, columns: Mapping[str, str]) -> DescriptorProto:
    """A message whose fields are all `optional`, which is a `oneof` of each."""
    message, types = DescriptorProto(name=name), {"TIMESTAMP": ".google.protobuf.Timestamp", _STRUCT: "In"}
    for place, (column, kind) in enumerate(columns.items()):
        field = message.field.add(name=column, number=place + 1, proto3_optional=True, oneof_index=place)
        field.type, field.label = _PROTOBUF[kind], FieldDescriptorProto.LABEL_OPTIONAL
        if kind in types:
            field.type_name = types[kind]
        message.oneof_decl.add(name=f"_{column}")
    return message


_TEXTS: Final[Mapping[str, Callable[[Mapping[str, str]], str]]] = {
    "avro": _avro_text,
    "json": _json_text,
    "protobuf": _protobuf_text,
}

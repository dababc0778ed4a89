"""Random Protobuf schemas with records of them, and the columns that these are read by.

What is expected comes from Google's own library, which parses each record by its schema.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import isnan
from typing import Any

import pyarrow as pa
from google.protobuf import timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp_runtime.formats.arrow_types import arrow_schema

_KNOWN = (timestamp_pb2, wrappers_pb2)
_LABELS = FieldDescriptorProto
_TEXTS = st.text(st.characters(codec="utf-8"), max_size=6)
_TIMES = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
_SIGNED = {32: st.integers(-(2**31), 2**31 - 1), 64: st.integers(-(2**63), 2**63 - 1)}
_FLOATS = st.floats(width=32, allow_nan=False)


@dataclass(frozen=True, slots=True)
class ProtobufKind:
    """A type of a field, the column that it is read by, and values."""

    type: str
    column: str
    values: st.SearchStrategy[Any]
    message: str = ""


@dataclass(frozen=True, slots=True)
class ProtobufRecords:
    """Messages of a schema, and the columns that they are read by."""

    file: FileDescriptorProto
    columns: str
    messages: list[bytes]

    @property
    def text(self) -> str:
        """The schema as some clients register it."""
        return b64encode(self.file.SerializeToString()).decode()

    @property
    def message_class(self) -> type[Message]:
        """The class of the first message."""
        pool = DescriptorPool()
        for known in _KNOWN:
            pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self.file.SerializeToString())
        first = next(iter(pool.FindFileByName(self.file.name).message_types_by_name.values()))
        made: type[Message] = GetMessageClass(first)
        return made

    def expected(self, value: bytes) -> dict[str, Any]:
        """The row of a record, as Google's library reads it."""
        message = self.message_class.FromString(value)
        return row_of(message, pa.struct(list(arrow_schema(parse_columns(self.columns)))))


def row_of(message: Message, kind: pa.StructType) -> dict[str, Any]:
    """The columns of a message; LookupError where an enum has no name for its number."""
    named = message.DESCRIPTOR.fields_by_name
    columns = [kind.field(place) for place in range(kind.num_fields)]
    return {
        column.name: _field_of(message, named[column.name], column.type) if column.name in named else None
        for column in columns
    }


def _field_of(message: Message, field: FieldDescriptor, kind: pa.DataType) -> Any:
    value = getattr(message, field.name)
    if field.message_type and field.message_type.GetOptions().map_entry:
        inner = field.message_type.fields_by_name["value"]
        return [(key, _value_of(inner, value[key], kind.item_type)) for key in value]
    if field.is_repeated:
        return [_value_of(field, item, kind.value_type) for item in value]
    if field.has_presence and not field.has_default_value and not message.HasField(field.name):
        return None
    return _value_of(field, value, kind)


def _value_of(field: FieldDescriptor, value: Any, kind: pa.DataType) -> Any:
    if field.message_type:
        if pa.types.is_struct(kind):
            return row_of(value, kind)
        timed = field.message_type.full_name == "google.protobuf.Timestamp"
        return value.ToDatetime(UTC) if timed else value.value
    if field.enum_type and pa.types.is_string(kind):
        return field.enum_type.values_by_number[value].name
    if pa.types.is_decimal(kind):
        return Decimal(value)
    if pa.types.is_float32(kind) or pa.types.is_float64(kind):
        return float(value)
    return value.encode() if isinstance(value, str) and pa.types.is_binary(kind) else value


def _kinds(number: int) -> list[ProtobufKind]:
    signed = [
        ProtobufKind(f"{name}{width}", "INT" if width == 32 else "BIGINT", _SIGNED[width])
        for name in ("int", "sint", "sfixed")
        for width in (32, 64)
    ]
    colours = st.integers(0, 2)
    return [
        *signed,
        ProtobufKind("int32", "TINYINT", st.integers(-128, 127)),
        ProtobufKind("int64", "DOUBLE", st.integers(-(2**53), 2**53)),
        ProtobufKind("uint32", "BIGINT", st.integers(0, 2**32 - 1)),
        ProtobufKind("fixed32", "BIGINT", st.integers(0, 2**32 - 1)),
        ProtobufKind("uint64", "DECIMAL(20,0)", st.integers(0, 2**64 - 1)),
        ProtobufKind("fixed64", "BIGINT", st.integers(0, 2**63 - 1)),
        ProtobufKind("bool", "BOOLEAN", st.booleans()),
        ProtobufKind("float", "FLOAT", _FLOATS),
        ProtobufKind("float", "DOUBLE", _FLOATS),
        ProtobufKind("double", "DOUBLE", st.floats(allow_nan=False)),
        ProtobufKind("string", "STRING", _TEXTS),
        ProtobufKind("string", "BINARY", _TEXTS),
        ProtobufKind("bytes", "BINARY", st.binary(max_size=6)),
        ProtobufKind("enum", "STRING", colours, "Colour"),
        ProtobufKind("enum", "INT", colours, "Colour"),
        ProtobufKind("message", "TIMESTAMP", _TIMES, "google.protobuf.Timestamp"),
        ProtobufKind("message", "BIGINT", _SIGNED[64], "google.protobuf.Int64Value"),
        ProtobufKind("message", "STRING", _TEXTS, "google.protobuf.StringValue"),
        ProtobufKind("message", f"STRUCT<a{number}: INT>", st.none() | _SIGNED[32], f"Inner{number}"),
    ]


def _type(kind: ProtobufKind, field: FieldDescriptorProto) -> None:
    field.type = getattr(FieldDescriptorProto, f"TYPE_{kind.type.upper()}")
    if kind.message:
        field.type_name = f".{'' if kind.message.startswith('google') else 'of.rows.'}{kind.message}"


@st.composite
def protobuf_records(draw: st.DrawFn, least: int = 0) -> ProtobufRecords:
    """A schema of some fields, of which some are columns in any order, and one that the writer lacks."""
    syntax = draw(st.sampled_from(["proto2", "proto3"]))
    file = FileDescriptorProto(name="rows.proto", package="of.rows", syntax=syntax)
    file.dependency.extend(known.DESCRIPTOR.name for known in _KNOWN)
    row = file.message_type.add(name="Row")
    colour = file.enum_type.add(name="Colour")
    for number, name in enumerate(("RED", "GREEN", "BLUE")):
        colour.value.add(name=name, number=number)
    row.oneof_decl.add(name="choice")
    kinds: dict[str, tuple[ProtobufKind, str]] = {}
    for number in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(_kinds(number)))
        inner = file.message_type.add(name=f"Inner{number}")
        inner.field.add(name="gone", number=1, type=_LABELS.TYPE_STRING, label=_LABELS.LABEL_OPTIONAL)
        inner.field.add(
            name=f"a{number}",
            number=2,
            type=_LABELS.TYPE_INT32,
            label=_LABELS.LABEL_OPTIONAL,
        )
        shape = draw(st.sampled_from(["plain", "optional", "choice", "repeated", "unpacked", "map"]))
        name = f"f{number}"
        _add(row, name, draw(st.sampled_from([number + 1, number + 100, number + 70_000])), kind, shape)
        kinds[name] = kind, shape
    if not any(shape == "choice" for _, shape in kinds.values()):
        row.oneof_decl.pop(0)
    _number_optional(row, syntax)
    kept = draw(st.permutations(list(kinds)))[: draw(st.integers(0, len(kinds)))]
    columns = ["extra STRING", *(f"{name} {_column(*kinds[name])}" for name in kept)]
    made = ProtobufRecords(file, ", ".join(columns), [])
    message_class = made.message_class
    for _ in range(draw(st.integers(least, 6))):
        made.messages.append(_message(draw, message_class, kinds).SerializeToString())
    return made


def _column(kind: ProtobufKind, shape: str) -> str:
    if shape in {"repeated", "unpacked"}:
        return f"ARRAY<{kind.column}>"
    return f"MAP<STRING, {kind.column}>" if shape == "map" else kind.column


def _add(row: DescriptorProto, name: str, number: int, kind: ProtobufKind, shape: str) -> None:
    field = row.field.add(name=name, number=number, label=_LABELS.LABEL_OPTIONAL)
    if shape == "map":
        entry = row.nested_type.add(name=f"{name.upper()}Entry")
        entry.options.map_entry = True
        entry.field.add(name="key", number=1, type=_LABELS.TYPE_STRING, label=_LABELS.LABEL_OPTIONAL)
        value = entry.field.add(name="value", number=2, label=_LABELS.LABEL_OPTIONAL)
        _type(kind, value)
        field.label, field.type = _LABELS.LABEL_REPEATED, _LABELS.TYPE_MESSAGE
        field.type_name = f".of.rows.Row.{entry.name}"
        return
    _type(kind, field)
    if shape in {"repeated", "unpacked"}:
        field.label = _LABELS.LABEL_REPEATED
        if kind.type not in {"string", "bytes", "message"}:
            field.options.packed = shape == "repeated"
    elif shape == "choice":
        field.oneof_index = 0
    elif shape == "optional":
        field.proto3_optional = True


def _number_optional(row: DescriptorProto, syntax: str) -> None:
    """Give fields that say so in proto3 the oneofs that a compiler makes of them."""
    for field in row.field:
        if not field.proto3_optional:
            continue
        if syntax == "proto2":
            field.ClearField("proto3_optional")
            continue
        field.oneof_index = len(row.oneof_decl)
        row.oneof_decl.add(name=f"_{field.name}")


def _message(
    draw: st.DrawFn, message_class: type[Message], kinds: Mapping[str, tuple[ProtobufKind, str]]
) -> Message:
    message = message_class()
    for name in draw(st.lists(st.sampled_from(list(kinds)), max_size=6)):
        kind, shape = kinds[name]
        if shape == "map":
            entries = getattr(message, name)
            for key, value in draw(st.dictionaries(_TEXTS, kind.values, max_size=3)).items():
                if kind.type == "message":
                    _set(entries[key], value)
                else:
                    entries[key] = value
        elif shape in {"repeated", "unpacked"}:
            for value in draw(st.lists(kind.values, max_size=3)):
                if kind.type == "message":
                    _set(getattr(message, name).add(), value)
                else:
                    getattr(message, name).append(value)
        elif kind.type == "message":
            getattr(message, name).SetInParent()
            _set(getattr(message, name), draw(kind.values))
        else:
            setattr(message, name, draw(kind.values))
    return message


def _set(message: Message, value: Any) -> None:
    descriptor: Descriptor = message.DESCRIPTOR
    if value is None:
        return
    if descriptor.full_name == "google.protobuf.Timestamp":
        message.FromDatetime(value)
    elif descriptor.full_name.startswith("google"):
        message.value = value
    else:
        setattr(message, descriptor.fields[1].name, value)
        message.gone = "gone"


def as_rows(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows that can be compared: the entries of maps stand in no order, and NaN is equal to itself."""
    return [{name: _comparable(value) for name, value in row.items()} for row in rows]


def _comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return as_rows([value])[0]
    if isinstance(value, tuple):
        return tuple(_comparable(part) for part in value)
    if isinstance(value, list):
        items = [_comparable(item) for item in value]
        return (
            sorted(items, key=lambda entry: repr(entry[0]))
            if items and isinstance(items[0], tuple)
            else items
        )
    return "NaN" if isinstance(value, float) and isnan(value) else value

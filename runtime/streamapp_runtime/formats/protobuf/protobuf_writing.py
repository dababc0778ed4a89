"""The writing of Protobuf records, and what a schema has to be like for rows to be written by it.

Rows are written as the first message of their schema. A null is a field that is not written: where the schema
cannot tell that, it is read as the default.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.protobuf.message_resolution import TIMESTAMP, WRAPPERS, shown_field
from streamapp_runtime.formats.protobuf.schema_files import MalformedSchemaError, schema_file
from streamapp_runtime.registered_schema import UnresolvableSchemaError

_FIRST_MESSAGE: Final = b"\0"
_INSTANT: Final = pa.timestamp("us", "UTC")
_LONGS: Final = frozenset(
    {FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64}
)
_INTS: Final = _LONGS | {
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SFIXED32,
}
_PLACES: Final[Mapping[pa.DataType, frozenset[int]]] = {
    pa.int8(): _INTS,
    pa.int16(): _INTS,
    pa.int32(): _INTS,
    pa.int64(): _LONGS,
    pa.float32(): frozenset({FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE}),
    pa.float64(): frozenset({FieldDescriptor.TYPE_DOUBLE}),
    pa.bool_(): frozenset({FieldDescriptor.TYPE_BOOL}),
    pa.string(): frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_ENUM}),
    pa.binary(): frozenset({FieldDescriptor.TYPE_BYTES}),
}
"""The types that have room for each value of a column."""

_NAMES: Final[Mapping[pa.DataType, str]] = {
    pa.int8(): "int32",
    pa.int16(): "int32",
    pa.int32(): "int32",
    pa.int64(): "int64",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.bool_(): "bool",
    pa.string(): "string",
    pa.binary(): "bytes",
    _INSTANT: TIMESTAMP,
}
_FIELD_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)

_Set = Callable[[Any, Any], None]
"""Has a value in a message; ValueError, TypeError or KeyError where it has no place."""


def record_encoder(
    writer: ResolvedWriterSchema, frame: bytes, _: FormatOptions
) -> Callable[[pa.RecordBatch], pa.BinaryArray]:
    """The value of each row, behind a frame; ValueError where the schema has no place for a row."""
    descriptor = _first_message(writer)
    message_class, fill = GetMessageClass(descriptor), _filler(descriptor)
    before = frame + _FIRST_MESSAGE

    def encoded(row: Mapping[str, Any]) -> bytes:
        message = message_class()
        try:
            fill(message, row)
            serialized: bytes = message.SerializeToString(deterministic=True)
        except (TypeError, ValueError, KeyError, AttributeError, EncodeError) as unfit:
            raise ValueError(f"a row does not fit the Protobuf schema: {unfit}") from None
        return before + serialized

    return lambda columns: pa.array(
        [encoded(row) for row in columns.to_pylist(maps_as_pydicts="strict")], pa.binary()
    )


def check_writable(columns: pa.Schema, writer: ResolvedWriterSchema) -> None:
    """UnresolvableSchemaError where a column has no place in the first message, or a field no value."""
    _check(_first_message(writer), list(columns), "", ())


def own_protobuf_schema(columns: pa.Schema, name: str = "Value") -> str:
    """A message of the columns; UnresolvableSchemaError where one has no type in Protobuf."""
    inner: list[str] = []
    message = _message_text(name, list(columns), "", inner, count(1))
    return "\n".join(
        ['syntax = "proto3";', 'import "google/protobuf/timestamp.proto";', message, *reversed(inner), ""]
    )


def _first_message(writer: ResolvedWriterSchema) -> Descriptor:
    try:
        messages = schema_file(writer.text, writer.dependencies).message_types_by_name
    except MalformedSchemaError as malformed:
        reason = f"schema id {writer.id} is no Protobuf schema: {malformed}"
        raise UnresolvableSchemaError("", reason) from None
    if not messages:
        raise UnresolvableSchemaError("", f"schema id {writer.id} has no message")
    first: Descriptor = next(iter(messages.values()))
    return first


def _check(message: Descriptor, columns: Sequence[pa.Field], path: str, within: tuple[str, ...]) -> None:
    if message.full_name in within:
        raise UnresolvableSchemaError(path, f'"{message.full_name}" contains itself')
    within, named = (*within, message.full_name), message.fields_by_name
    for column in columns:
        inside = f"{path}.{column.name}" if path else column.name
        if column.name not in named:
            raise UnresolvableSchemaError(inside, "the schema has no such field")
        _check_field(named[column.name], column.type, inside, within)
    names = {column.name for column in columns}
    for name, field in named.items():
        if field.is_required and name not in names:
            inside = f"{path}.{name}" if path else name
            raise UnresolvableSchemaError(inside, "no column has that name, and it is required")


def _check_field(field: FieldDescriptor, kind: pa.DataType, path: str, within: tuple[str, ...]) -> None:
    message = field.message_type
    if message and message.GetOptions().map_entry:
        fits = pa.types.is_map(kind)
        if fits:
            _check_element(message.fields_by_name["key"], kind.key_type, f"{path}{{}}", within)
            _check_element(message.fields_by_name["value"], kind.item_type, f"{path}{{}}", within)
    else:
        fits = field.is_repeated == pa.types.is_list(kind)
        if fits:
            _check_element(field, kind.value_type if field.is_repeated else kind, path, within)
    if not fits:
        raise _no_place(field, kind, path)


def _check_element(field: FieldDescriptor, kind: pa.DataType, path: str, within: tuple[str, ...]) -> None:
    message = field.message_type
    if message and pa.types.is_struct(kind) and field.type != FieldDescriptor.TYPE_GROUP:
        _check(message, [kind.field(place) for place in range(kind.num_fields)], path, within)
    elif message and message.full_name in WRAPPERS:
        _check_element(message.fields_by_name["value"], kind, path, within)
    elif not (
        field.type in _PLACES.get(kind, ())
        or (message and message.full_name == TIMESTAMP and kind == _INSTANT)
    ):
        raise _no_place(field, kind, path)


def _no_place(field: FieldDescriptor, kind: pa.DataType, path: str) -> UnresolvableSchemaError:
    return UnresolvableSchemaError(path, f"the column is {kind}, which {shown_field(field)} has no place for")


def _filler(descriptor: Descriptor) -> _Set:
    """Has a row in a message of this type."""
    setters: dict[str, _Set] = {}
    choices = [[field.name for field in oneof.fields] for oneof in descriptor.oneofs]

    def fill(message: Message, row: Mapping[str, Any]) -> None:
        for choice in choices:
            if sum(row.get(name) is not None for name in choice) > 1:
                raise ValueError(f"of {', '.join(choice)} only one has a value")
        for name, value in row.items():
            if value is None:
                continue
            if name not in setters:
                setters[name] = _setter(descriptor.fields_by_name[name])
            setters[name](message, value)

    return fill


def _setter(field: FieldDescriptor) -> _Set:
    """Has a value in a field of a message."""
    name, inner = field.name, field.message_type
    if inner and inner.GetOptions().map_entry:
        return _map_setter(name, inner.fields_by_name["value"])
    if inner:
        fill = _inner_filler(inner)
        if field.is_repeated:

            def extended(message: Message, items: Any) -> None:
                for item in items:
                    fill(getattr(message, name).add(), item)

            return extended

        def embedded(message: Message, value: Any) -> None:
            getattr(message, name).SetInParent()
            fill(getattr(message, name), value)

        return embedded
    plain = _plain_value(field.enum_type)
    if field.is_repeated:
        return lambda message, items: getattr(message, name).extend(plain(item) for item in items)
    return lambda message, value: setattr(message, name, plain(value))


def _map_setter(name: str, value: FieldDescriptor) -> _Set:
    fill = _inner_filler(value.message_type) if value.message_type else None
    plain = _plain_value(value.enum_type)

    def filled(message: Message, entries: Mapping[Any, Any]) -> None:
        written = getattr(message, name)
        for key, item in entries.items():
            if fill:
                fill(written[key], item)
            else:
                written[key] = plain(item)

    return filled


def _inner_filler(descriptor: Descriptor) -> _Set:
    if descriptor.full_name == TIMESTAMP:
        return lambda message, value: message.FromDatetime(value)
    if descriptor.full_name in WRAPPERS:
        return lambda message, value: setattr(message, "value", value)
    return _filler(descriptor)


def _plain_value(enum: EnumDescriptor | None) -> Callable[[Any], Any]:
    if enum is None:
        return lambda value: value
    numbers = {value.name: value.number for value in enum.values}
    return lambda value: numbers[value]


def _message_text(
    name: str, columns: Sequence[pa.Field], path: str, inner: list[str], numbers: "count[int]"
) -> str:
    lines = []
    for number, column in enumerate(columns, start=1):
        inside = f"{path}.{column.name}" if path else column.name
        if not _FIELD_NAME.fullmatch(column.name):
            raise UnresolvableSchemaError(inside, "a field of Protobuf cannot have that name")
        lines.append(f"  {_field_text(column.type, inside, inner, numbers)} {column.name} = {number};")
    return "\n".join([f"message {name} {{", *lines, "}"])


def _field_text(kind: pa.DataType, path: str, inner: list[str], numbers: "count[int]") -> str:
    if pa.types.is_list(kind):
        return f"repeated {_type_text(kind.value_type, path, inner, numbers)}"
    if pa.types.is_map(kind):
        key = _NAMES.get(kind.key_type, "")
        if key in {"", "float", "double", "bytes", TIMESTAMP}:
            raise UnresolvableSchemaError(path, f"maps of Protobuf have no keys of {kind.key_type}")
        return f"map<{key}, {_type_text(kind.item_type, path, inner, numbers)}>"
    return f"optional {_type_text(kind, path, inner, numbers)}"


def _type_text(kind: pa.DataType, path: str, inner: list[str], numbers: "count[int]") -> str:
    if pa.types.is_struct(kind):
        name = f"Record{next(numbers)}"
        fields = [kind.field(place) for place in range(kind.num_fields)]
        inner.append(_message_text(name, fields, path, inner, numbers))
        return name
    if kind not in _NAMES:
        raise UnresolvableSchemaError(path, f"Protobuf has no type for {kind}; register a schema without it")
    return _NAMES[kind]

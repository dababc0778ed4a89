"""The resolution of a writer's message to the columns of a stream.

| column | is read from |
| --- | --- |
| TINYINT, SMALLINT, INT | int32, sint32, sfixed32, enum by its number; what does not fit is a bad record |
| BIGINT | the same, uint32, fixed32, whole numbers of 64 bits; what does not fit is a bad record |
| DECIMAL(p,s) of 20 digits before the point | uint64, fixed64 |
| FLOAT, DOUBLE | float, whole numbers; DOUBLE also double |
| BOOLEAN | bool |
| STRING | string, enum by its name, bytes that are UTF-8 |
| BINARY | bytes, string |
| TIMESTAMP | google.protobuf.Timestamp; cut to microseconds |
| any of these | the wrapper of google.protobuf of its type |
| ARRAY, MAP, STRUCT | repeated, map, message, part by part |

Fields are found by name. One that is not written is null where the schema can tell that, else its default.
Fields without a column are skipped. A message that contains itself is refused where a column goes into it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from streamapp_runtime.formats.protobuf.field_scan import EIGHT_BYTES, FOUR_BYTES, SIZED, VARINT
from streamapp_runtime.formats.protobuf.field_types import (
    ElementType,
    EmbeddedType,
    MapField,
    MessageField,
    MessageType,
    MissingField,
    PlainReading,
    ReadableField,
    RepeatedField,
    ScalarType,
    SingularField,
    of_bytes,
    of_varints,
    of_width,
)
from streamapp_runtime.formats.record_cursor import zigzag
from streamapp_runtime.formats.value_conversions import Convert, cast_to, rounded_to, within_years
from streamapp_runtime.registered_schema import UnresolvableSchemaError

TIMESTAMP: Final = "google.protobuf.Timestamp"
WRAPPERS: Final = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_INSTANT: Final = pa.timestamp("us", "UTC")
_MOMENT: Final = pa.struct([("seconds", pa.int64()), ("nanos", pa.int32())])


def _narrow(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    """The lower half: a negative number of 32 bits is written with 64."""
    return values.astype(np.uint32).view(np.int32)


def _narrow_zigzag(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
    return zigzag(values & np.uint64(0xFFFFFFFF)).astype(np.int32)


@dataclass(frozen=True, slots=True)
class _Scalar:
    """A type as it is read before it becomes a column, and its name."""

    name: str
    element: ScalarType
    columns: Mapping[pa.DataType, Convert | None]


_WHOLE: Final = {kind: cast_to(kind) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())}
_POINTED: Final = {kind: rounded_to(kind) for kind in (pa.float32(), pa.float64())}
_NARROW: Final = _WHOLE | _POINTED | {pa.int32(): None}
_WIDE: Final = {pa.int64(): cast_to(pa.int64())} | _POINTED
_TEXTS: Final = {pa.string(): cast_to(pa.string()), pa.binary(): None}


def _scalar(
    name: str,
    wire: int,
    plain: PlainReading,
    kind: pa.DataType,
    columns: Mapping[pa.DataType, Convert | None],
) -> _Scalar:
    return _Scalar(name, ScalarType(wire, plain, kind, None, ""), columns)


_SCALARS: Final[Mapping[int, _Scalar]] = {
    FieldDescriptor.TYPE_INT32: _scalar("int32", VARINT, of_varints(_narrow), pa.int32(), _NARROW),
    FieldDescriptor.TYPE_SINT32: _scalar("sint32", VARINT, of_varints(_narrow_zigzag), pa.int32(), _NARROW),
    FieldDescriptor.TYPE_SFIXED32: _scalar("sfixed32", FOUR_BYTES, of_width("<i4"), pa.int32(), _NARROW),
    FieldDescriptor.TYPE_INT64: _scalar(
        "int64", VARINT, of_varints(lambda values: values.view(np.int64)), pa.int64(), _WIDE
    ),
    FieldDescriptor.TYPE_SINT64: _scalar("sint64", VARINT, of_varints(zigzag), pa.int64(), _WIDE),
    FieldDescriptor.TYPE_SFIXED64: _scalar("sfixed64", EIGHT_BYTES, of_width("<i8"), pa.int64(), _WIDE),
    FieldDescriptor.TYPE_UINT32: _scalar(
        "uint32", VARINT, of_varints(lambda values: values.astype(np.uint32)), pa.uint32(), _WIDE
    ),
    FieldDescriptor.TYPE_FIXED32: _scalar("fixed32", FOUR_BYTES, of_width("<u4"), pa.uint32(), _WIDE),
    FieldDescriptor.TYPE_UINT64: _scalar(
        "uint64", VARINT, of_varints(lambda values: values), pa.uint64(), _WIDE
    ),
    FieldDescriptor.TYPE_FIXED64: _scalar("fixed64", EIGHT_BYTES, of_width("<u8"), pa.uint64(), _WIDE),
    FieldDescriptor.TYPE_BOOL: _scalar(
        "bool", VARINT, of_varints(lambda values: values != 0), pa.bool_(), {pa.bool_(): None}
    ),
    FieldDescriptor.TYPE_FLOAT: _scalar(
        "float", FOUR_BYTES, of_width("<f4"), pa.float32(), _POINTED | {pa.float32(): None}
    ),
    FieldDescriptor.TYPE_DOUBLE: _scalar(
        "double", EIGHT_BYTES, of_width("<f8"), pa.float64(), {pa.float64(): None}
    ),
    FieldDescriptor.TYPE_STRING: _scalar("string", SIZED, of_bytes, pa.binary(), _TEXTS),
    FieldDescriptor.TYPE_BYTES: _scalar("bytes", SIZED, of_bytes, pa.binary(), _TEXTS),
    FieldDescriptor.TYPE_ENUM: _scalar("enum", VARINT, of_varints(_narrow), pa.int32(), _WHOLE),
}


def resolved(message: Descriptor, columns: pa.Schema) -> MessageType:
    """The message as the columns; UnresolvableSchemaError with the path of what has no place."""
    return _message(message, pa.struct(list(columns)), "", ())


def _message(message: Descriptor, kind: pa.StructType, path: str, within: tuple[str, ...]) -> MessageType:
    if message.full_name in within:
        raise UnresolvableSchemaError(path, f'"{message.full_name}" contains itself, which no column can')
    within = (*within, message.full_name)
    columns = [kind.field(place) for place in range(kind.num_fields)]
    named = message.fields_by_name
    fields = tuple(
        _field(named[column.name], column.type, _joined(path, column.name), within)
        if column.name in named
        else MissingField(column.type)
        for column in columns
    )
    kept_names = {column.name for column in columns}
    oneofs = tuple(
        tuple(field.number << 3 | _wire(field) for field in oneof.fields)
        for oneof in message.oneofs
        if len(oneof.fields) > 1 and any(field.name in kept_names for field in oneof.fields)
    )
    return MessageType(fields, kind, oneofs)


def _field(field: FieldDescriptor, kind: pa.DataType, path: str, within: tuple[str, ...]) -> ReadableField:
    entry = field.message_type if field.message_type and field.message_type.GetOptions().map_entry else None
    if entry and pa.types.is_map(kind):
        pair = pa.struct([pa.field("key", kind.key_type), pa.field("value", kind.item_type)])
        parts = _message(entry, pair, f"{path}{{}}", within)
        value = entry.fields_by_name["value"]
        if isinstance(parts.fields[1], MessageField):
            always = MessageField(value.number, parts.fields[1].element, always=True)
            parts = MessageType((parts.fields[0], always), pair)
        entries = RepeatedField(field.number, EmbeddedType(parts, pair), pa.list_(pair))
        return MapField(entries, kind)
    if entry or field.is_repeated != pa.types.is_list(kind):
        raise _misplaced(field, kind, path)
    if field.is_repeated:
        element = _element(field, kind.value_type, f"{path}[]", within)
        return RepeatedField(field.number, element, kind)
    element = _element(field, kind, path, within)
    if isinstance(element, EmbeddedType):
        return MessageField(field.number, element, always=False)
    return SingularField(field.number, element, _default(field, element, path))


def _element(field: FieldDescriptor, kind: pa.DataType, path: str, within: tuple[str, ...]) -> ElementType:
    if field.type == FieldDescriptor.TYPE_GROUP:
        raise UnresolvableSchemaError(path, "it is a group, which is not read")
    if field.message_type:
        return _embedded(field, kind, path, within)
    element = _converted(field, kind)
    if element is None:
        raise _misplaced(field, kind, path)
    return element


def _embedded(field: FieldDescriptor, kind: pa.DataType, path: str, within: tuple[str, ...]) -> EmbeddedType:
    message = field.message_type
    if pa.types.is_struct(kind):
        return EmbeddedType(_message(message, kind, path, within), kind)
    if message.full_name == TIMESTAMP and kind == _INSTANT:
        parts = _message(message, _MOMENT, path, within)
        return EmbeddedType(parts, kind, _instants, "a time is not in the years 1 to 9999")
    if message.full_name in WRAPPERS:
        parts = _message(message, pa.struct([("value", kind)]), path, within)
        return EmbeddedType(parts, kind, lambda values: pc.struct_field(values, [0]))
    raise _misplaced(field, kind, path)


def _converted(field: FieldDescriptor, kind: pa.DataType) -> ScalarType | None:
    """The reading of a value into a column; None where the column is of another type."""
    scalar = _SCALARS[field.type]
    plain = scalar.element
    if field.enum_type and (kind == pa.string() or (field.enum_type.is_closed and kind in scalar.columns)):
        convert: Convert | None = _symbols(field.enum_type, kind)
        fault = "an enum has no name for its number"
    elif kind in scalar.columns:
        convert, fault = scalar.columns[kind], f"a number does not fit {kind}"
        fault = "a text is no valid UTF-8" if kind == pa.string() else fault
    elif plain.type == pa.uint64() and pa.types.is_decimal(kind) and kind.precision - kind.scale >= 20:
        convert, fault = cast_to(kind), ""
    else:
        return None
    return ScalarType(plain.wire, plain.plain, kind, convert, fault)


def _default(field: FieldDescriptor, element: ElementType, path: str) -> pa.Scalar | None:
    """The value of a field that is not written; None where that is seen, and no default is declared."""
    if field.has_presence and not field.has_default_value:
        return None
    value = field.default_value
    value = value.encode() if isinstance(value, str) else value
    plain = pa.array([value], _SCALARS[field.type].element.type)
    try:
        convert = element.convert if isinstance(element, ScalarType) else None
        return (convert(plain) if convert else plain)[0]
    except pa.ArrowInvalid:
        raise UnresolvableSchemaError(path, f"its default is no {element.type}") from None


def _symbols(enum: EnumDescriptor, kind: pa.DataType) -> Convert:
    """The names of numbers, of several that one has the first; or numbers that have a name."""
    by_number: dict[int, str] = {}
    for value in enum.values:
        by_number.setdefault(value.number, value.name)
    numbers, names = pa.array(by_number, pa.int32()), pa.array(by_number.values(), pa.string())

    def converted(values: pa.Array) -> pa.Array:
        places = pc.index_in(values, numbers)
        if places.null_count > values.null_count:
            raise pa.ArrowInvalid("no name")
        return names.take(places) if kind == pa.string() else values.cast(kind)

    return converted


def _instants(moments: pa.StructArray) -> pa.Array:
    seconds, nanos = pc.struct_field(moments, [0]), pc.struct_field(moments, [1])
    extent = pc.min_max(nanos).as_py()
    if extent["min"] is not None and (extent["min"] < 0 or extent["max"] > 999_999_999):
        raise pa.ArrowInvalid("no part of a second")
    micros = pc.add_checked(pc.multiply_checked(seconds, 1_000_000), pc.divide(nanos, 1_000).cast(pa.int64()))
    return within_years(micros, pa.timestamp("us")).cast(_INSTANT)


def _wire(field: FieldDescriptor) -> int:
    return SIZED if field.message_type else _SCALARS[field.type].element.wire


def _misplaced(field: FieldDescriptor, kind: pa.DataType, path: str) -> UnresolvableSchemaError:
    return UnresolvableSchemaError(path, f"{shown_field(field)} is written there, the column is {kind}")


def shown_field(field: FieldDescriptor) -> str:
    """The type of a field in few words."""
    named = field.message_type or field.enum_type
    if field.message_type and field.message_type.GetOptions().map_entry:
        return "a map"
    name = _SCALARS[field.type].name if field.type in _SCALARS else "message"
    words = f"{name} {named.full_name}" if named else name
    return f"repeated {words}" if field.is_repeated else words


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name

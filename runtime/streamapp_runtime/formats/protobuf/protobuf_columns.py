"""The columns of a registered Protobuf schema: those that hold its first message without a loss."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from streamapp_runtime.formats.protobuf.message_resolution import TIMESTAMP, WRAPPERS
from streamapp_runtime.formats.protobuf.schema_files import schema_file
from streamapp_runtime.formats.registry.registry_format import SchemaColumns, held_fields
from streamapp_runtime.registered_schema import RegisteredSchema, UnresolvableSchemaError

_UNSIGNED: Final = pa.decimal128(20, 0)
_TYPES: Final[Mapping[int, pa.DataType]] = {
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT32, FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SFIXED32), pa.int32()
    ),
    **dict.fromkeys(
        (FieldDescriptor.TYPE_INT64, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_SFIXED64), pa.int64()
    ),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_FIXED32), pa.int64()),
    **dict.fromkeys((FieldDescriptor.TYPE_UINT64, FieldDescriptor.TYPE_FIXED64), _UNSIGNED),
    FieldDescriptor.TYPE_BOOL: pa.bool_(),
    FieldDescriptor.TYPE_FLOAT: pa.float32(),
    FieldDescriptor.TYPE_DOUBLE: pa.float64(),
    FieldDescriptor.TYPE_STRING: pa.string(),
    FieldDescriptor.TYPE_BYTES: pa.binary(),
    FieldDescriptor.TYPE_ENUM: pa.string(),
}


def message_columns(registered: RegisteredSchema) -> SchemaColumns:
    """The columns of the first message of a schema, and the fields that no column holds."""
    messages = list(schema_file(registered.text, registered.dependencies).message_types_by_name.values())
    if not messages:
        raise UnresolvableSchemaError("", "it has no message")
    left_out: dict[str, str] = {}
    return SchemaColumns(pa.schema(list(_message(messages[0], "", (), left_out))), left_out)


def _message(
    message: Descriptor, path: str, within: tuple[str, ...], left_out: dict[str, str]
) -> pa.StructType:
    if message.full_name in within:
        raise UnresolvableSchemaError(path, f'"{message.full_name}" contains itself, which no column can')
    within = (*within, message.full_name)
    return held_fields(
        {field.name: field for field in message.fields},
        lambda field, inside: _field(field, inside, within, left_out),
        path,
        f'"{message.full_name}" has no field that a column holds',
        left_out,
    )


def _field(
    field: FieldDescriptor, path: str, within: tuple[str, ...], left_out: dict[str, str]
) -> pa.DataType:
    message = field.message_type
    if message and message.GetOptions().map_entry:
        key, value = message.fields_by_name["key"], message.fields_by_name["value"]
        kind = _TYPES[key.type]
        whole = pa.int64() if kind == _UNSIGNED else kind  # keys of maps are no decimals
        return pa.map_(whole, _element(value, f"{path}{{}}", within, left_out))
    if field.is_repeated:
        return pa.list_(pa.field("element", _element(field, f"{path}[]", within, left_out)))
    return _element(field, path, within, left_out)


def _element(
    field: FieldDescriptor, path: str, within: tuple[str, ...], left_out: dict[str, str]
) -> pa.DataType:
    if field.type == FieldDescriptor.TYPE_GROUP:
        raise UnresolvableSchemaError(path, "it is a group, which is not read")
    message = field.message_type
    if message is None:
        return _TYPES[field.type]
    if message.full_name == TIMESTAMP:
        return pa.timestamp("us", "UTC")
    if message.full_name in WRAPPERS:
        return _TYPES[message.fields_by_name["value"].type]
    return _message(message, path, within, left_out)

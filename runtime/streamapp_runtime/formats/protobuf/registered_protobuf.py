"""Protobuf as a kind of a registry's schemas."""

from collections.abc import Sequence
from typing import Final

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.protobuf.protobuf_columns import message_columns
from streamapp_runtime.formats.protobuf.protobuf_reader import ProtobufReader
from streamapp_runtime.formats.protobuf.protobuf_writing import (
    check_writable,
    own_protobuf_schema,
    record_encoder,
)
from streamapp_runtime.formats.protobuf.schema_files import schema_file
from streamapp_runtime.formats.registry.registry_format import Reading, RegisteredKind
from streamapp_runtime.formats.required_columns import required_columns
from streamapp_runtime.registered_schema import RegisteredSchema


def _reading(columns: Sequence[Column], options: FormatOptions) -> Reading:
    def resolved(registered: RegisteredSchema) -> ProtobufReader:
        file = schema_file(registered.text, registered.dependencies)
        return ProtobufReader(file, arrow_schema(columns), required_columns(columns), options.strict)

    return resolved


PROTOBUF: Final = RegisteredKind(
    "protobuf",
    "PROTOBUF",
    "Protobuf",
    _reading,
    record_encoder,
    own_protobuf_schema,
    check_writable,
    message_columns,
)

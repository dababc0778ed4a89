"""Avro as a kind of a registry's schemas."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Final

import fastavro
import pyarrow as pa

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.formats.avro.avro_columns import schema_columns
from streamapp_runtime.formats.avro.avro_reader import AvroReader
from streamapp_runtime.formats.avro.avro_schema import avro_schema
from streamapp_runtime.formats.avro.avro_writing import check_writable, encoded_records, parsed_writer
from streamapp_runtime.formats.avro.schema_resolution import Schema
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.registry.registry_format import Encode, Reading, RegisteredKind
from streamapp_runtime.formats.required_columns import required_columns
from streamapp_runtime.registered_schema import RegisteredSchema


def _reading(columns: Sequence[Column], options: FormatOptions) -> Reading:
    own: Schema = fastavro.parse_schema(json.loads(options.avro_schema)) if options.avro_schema else None

    def resolved(registered: RegisteredSchema) -> AvroReader:
        return AvroReader.resolve(
            json.loads(registered.text),
            arrow_schema(columns),
            required_columns(columns),
            dependencies=[json.loads(dependency.text) for dependency in registered.dependencies],
            reader=own,
        )

    return resolved


def _writing(writer: ResolvedWriterSchema, frame: bytes, _: FormatOptions) -> Encode:
    return partial(encoded_records, schema=parsed_writer(writer), frame=frame)


def own_avro_schema(columns: pa.Schema, name: str = "Value") -> str:
    """A record of this name with the columns as fields, each of which may be null."""
    return json.dumps(avro_schema(columns, name))


AVRO: Final = RegisteredKind(
    "avro", "AVRO", "Avro", _reading, _writing, own_avro_schema, check_writable, schema_columns
)

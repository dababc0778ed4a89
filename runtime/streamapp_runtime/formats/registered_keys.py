"""The keys of records behind the frame of a registry, each read by its own schema."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import pyarrow as pa

from streamapp.spec.value_types.column_list import Column, quote
from streamapp.spec.value_types.format_names import REGISTERED_KEYS
from streamapp_runtime.formats.avro.registered_avro import AVRO
from streamapp_runtime.formats.format_options import FormatOptions
from streamapp_runtime.formats.json.registered_json import JSON, lone_value_reader
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.read_records import SchemaReader
from streamapp_runtime.formats.record_format import DecodedBatch, ReadKeys, RecordFormat
from streamapp_runtime.formats.registry.registry_format import Reading, RegisteredKind, RegistryFormat
from streamapp_runtime.formats.required_columns import MISSING, required_columns
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaLookup, UnresolvableSchemaError
from streamapp_runtime.rows.byte_columns import key_bytes, true_places


@dataclass(frozen=True, slots=True)
class KeyedRecords:
    """A format of values, and the keys beside them."""

    values: RecordFormat
    keys: "RegisteredKeys"

    @property
    def schema(self) -> pa.Schema:
        """The columns of values."""
        return self.values.schema

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value."""
        return self.values.decode(values)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The value of each row."""
        return self.values.encode(columns)

    def read_keys(self, keys: pa.BinaryArray) -> ReadKeys:
        """The keys as rows have them, and the columns that are parts of them."""
        return self.keys.read(keys)


class RegisteredKeys:
    """The reader of a stream's keys.

    `column` is that of the values which the key is, where it is one of theirs. Where rows have the value of
    the key as their key, its schema has that one field, or is of a value alone: no part of it may get lost.
    """

    def __init__(self, options: FormatOptions, column: Column | None, schemas: SchemaLookup | None) -> None:
        columns = options.key_columns or ((column,) if column else ())
        self._form = key_format(options.key_format or "", columns, schemas, whole=options.key_is_decoded)
        self._key = columns[0].name if options.key_is_decoded else None
        self._required = required_columns(columns) if options.key_columns else ()
        self._has_columns = bool(options.key_columns)

    def read(self, keys: pa.BinaryArray) -> ReadKeys:
        """The key of each record; null where it has none, or one with a fault."""
        decoded = self._form.decode(keys)
        faults = {bad.index: f"its key: {bad.reason}" for bad in decoded.bad}
        missing = true_places(keys.is_null()) if self._required else ()
        for name in self._required:
            faults |= dict.fromkeys(missing, f"its key: {name}: {MISSING}")
        own = keys if self._key is None else key_bytes(decoded.columns.column(self._key))
        return ReadKeys(own, faults, decoded.columns if self._has_columns else None)


def key_format(
    name: str, columns: Sequence[Column], schemas: SchemaLookup | None, *, whole: bool
) -> RegistryFormat:
    """The format of keys; with `whole` a key that has more fields than the columns is bad."""
    return RegistryFormat(_KINDS[name], columns, FormatOptions(strict=whole), schemas)


def _reading_avro(columns: Sequence[Column], options: FormatOptions) -> Reading:
    resolve = AVRO.reading(columns, options)

    def resolved(registered: RegisteredSchema) -> SchemaReader:
        schema: Any = json.loads(registered.text)
        if not isinstance(schema, dict) or schema.get("type") != "record":
            field = {"name": _only(columns), "type": schema}  # whose bytes are those of its value
            schema = {"type": "record", "name": "Key", "fields": [field]}
        names = [field["name"] for field in schema["fields"]]
        if options.strict and names != [column.name for column in columns]:
            raise UnresolvableSchemaError(
                "",
                f"a key of {', '.join(map(quote, names))} has not the one field {_only(columns)}; name a "
                "column for keys as they are (metadata.key), and say that one as key of the stream",
            )
        return resolve(replace(registered, text=json.dumps(schema)))

    return resolved


def _reading_json(columns: Sequence[Column], options: FormatOptions) -> Reading:
    resolve = JSON.reading(columns, options)

    def resolved(registered: RegisteredSchema) -> SchemaReader:
        schema: Any = json.loads(registered.text)
        kinds = schema.get("type") if isinstance(schema, dict) else None
        if kinds is None or "object" in kinds:
            return resolve(registered)
        return lone_value_reader(columns, _only(columns))

    return resolved


def _only(columns: Sequence[Column]) -> str:
    """The name of the one column; UnresolvableSchemaError where a key that is a value alone has several."""
    if len(columns) > 1:
        raise UnresolvableSchemaError("", "it is a value alone, and the stream has several columns of keys")
    return columns[0].name


_KINDS: Final[Mapping[str, RegisteredKind]] = {
    "avro": replace(AVRO, reading=_reading_avro),
    "protobuf": PROTOBUF,
    "json": replace(JSON, reading=_reading_json),
}
"""The kinds of schemas as they are of keys: those of Avro and JSON may be of a value alone."""
if _KINDS.keys() != set(REGISTERED_KEYS):
    raise AssertionError("each format of registered keys has its row")

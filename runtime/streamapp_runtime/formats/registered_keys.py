"""The keys of records behind the frame of a registry, each read by its own schema."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import Column, quote
from streamapp.spec.value_types.format_names import REGISTERED_KEYS
from streamapp_runtime.formats.avro.registered_avro import AVRO, own_avro_schema
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.json.registered_json import JSON, json_type, lone_value_reader
from streamapp_runtime.formats.protobuf.protobuf_writing import own_protobuf_schema
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.read_records import SchemaReader
from streamapp_runtime.formats.record_format import DecodedBatch, ReadKeys, RecordFormat, encoded_rows
from streamapp_runtime.formats.registry.registry_format import Encode, Reading, RegisteredKind, RegistryFormat
from streamapp_runtime.formats.required_columns import MISSING, required_columns
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaLookup, UnresolvableSchemaError
from streamapp_runtime.rows.byte_columns import key_bytes, null_mask, true_places

_LONE: Final = "value"
"""The name of the field that a key which is a value alone is written as."""


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
    """The reader and writer of a stream's keys.

    `of_values` is the column of the values which the key is, where it is one of theirs. Where rows have the
    value of the key as their key, its schema has that one field, or is of a value alone: no part of it may
    get lost.
    """

    def __init__(
        self, options: FormatOptions, of_values: Sequence[Column], schemas: SchemaLookup | None
    ) -> None:
        columns = options.key_columns or of_values
        self._form = RegistryFormat(
            KEY_KINDS[options.key_format or ""],
            columns,
            FormatOptions(strict=options.key_is_decoded, writer=options.key_writer),
            schemas,
        )
        self._key = columns[0].name if options.key_is_decoded else None
        self._required = required_columns(columns) if options.key_columns else ()
        self._has_columns = bool(options.key_columns)

    def read(self, keys: pa.BinaryArray) -> ReadKeys:
        """The key of each record; null where it has none, or one with a fault."""
        decoded = self.decode(keys)
        faults = {bad.index: f"its key: {bad.reason}" for bad in decoded.bad}
        missing = true_places(keys.is_null()) if self._required else ()
        for name in self._required:
            faults |= dict.fromkeys(missing, f"its key: {name}: {MISSING}")
        own = keys if self._key is None else key_bytes(decoded.columns.column(self._key))
        return ReadKeys(own, faults, decoded.columns if self._has_columns else None)

    def decode(self, keys: pa.BinaryArray) -> DecodedBatch:
        """The columns of each key."""
        return self._form.decode(keys)

    def write(
        self, parts: Sequence[pa.Array], own: pa.BinaryArray, deletions: pa.BooleanArray
    ) -> pa.BinaryArray:
        """The key of each row by its parts, or by the row's own key where it deletes and has no parts.

        A row has no key that has none of the parts. ValueError where the schema has no place for a key.
        """
        columns = pa.RecordBatch.from_arrays(list(parts), schema=self._form.schema)
        if deletions.true_count:
            places = np.arange(len(columns))
            places[true_places(deletions)] = np.arange(deletions.true_count) + len(columns)
            of_deletions = self._parts(own.filter(deletions))
            columns = pa.concat_batches([columns, of_deletions]).take(pa.array(places))
        without_parts = np.all([null_mask(column) for column in columns.columns], axis=0)
        return encoded_rows(self._form, columns, pa.array(without_parts))

    def _parts(self, own: pa.BinaryArray) -> pa.RecordBatch:
        """The parts of keys that rows have of themselves: the value, or the bytes behind a frame."""
        if self._key is not None:
            (kind,) = self._form.schema.types
            column = own if pa.types.is_binary(kind) else own.cast(pa.string()).cast(kind)
            return pa.RecordBatch.from_arrays([column], schema=self._form.schema)
        decoded = self._form.decode(own)
        for bad in decoded.bad:
            raise ValueError(
                "a row that deletes has no columns to make its key of, and the key that it has is none of "
                f"the registry: {bad.reason}; read its stream with the record's key as key (metadata.key)"
            )
        return decoded.columns


def key_format(
    names: Sequence[str], columns: Sequence[Column], schemas: SchemaLookup | None, *, whole: bool
) -> RegistryFormat:
    """The format of keys by schemas of these kinds; with `whole` one with more fields than columns is bad."""
    kind, *others = (KEY_KINDS[name] for name in names)
    return RegistryFormat(kind, columns, FormatOptions(strict=whole), schemas, others)


def _reading_avro(columns: Sequence[Column], options: FormatOptions) -> Reading:
    resolve = AVRO.reading(columns, options)

    def resolved(registered: RegisteredSchema) -> SchemaReader:
        schema = _record(registered.text, [column.name for column in columns])
        names = [field["name"] for field in schema["fields"]]
        if options.strict and names != [column.name for column in columns]:
            raise UnresolvableSchemaError(
                "",
                f"a key of {', '.join(map(quote, names))} has not the one field {columns[0].name}; name a "
                "column for keys as they are (metadata.key), and say that one as key of the stream",
            )
        return resolve(replace(registered, text=json.dumps(schema)))

    return resolved


def _writing_avro(writer: ResolvedWriterSchema, frame: bytes, options: FormatOptions) -> Encode:
    if _is_record(json.loads(writer.text)):
        return AVRO.writing(writer, frame, options)
    record = json.dumps(_record(writer.text, [_LONE]))
    encode = AVRO.writing(replace(writer, text=record), frame, options)
    return lambda columns: encode(columns.rename_columns([_LONE]))


def _check_avro(columns: pa.Schema, writer: ResolvedWriterSchema) -> None:
    record = json.dumps(_record(writer.text, columns.names))
    AVRO.check_writable(columns, replace(writer, text=record))


def _record(text: str, names: Sequence[str]) -> dict[str, Any]:
    """A schema of Avro as a record; that of a value alone has one field, whose bytes are the value's."""
    schema: Any = json.loads(text)
    if _is_record(schema):
        return dict(schema)
    return {"type": "record", "name": "Key", "fields": [{"name": _only(names), "type": schema}]}


def _is_record(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "record"


def _reading_json(columns: Sequence[Column], options: FormatOptions) -> Reading:
    resolve = JSON.reading(columns, options)

    def resolved(registered: RegisteredSchema) -> SchemaReader:
        if not _lone_types(registered.text):
            return resolve(registered)
        return lone_value_reader(columns, _only([column.name for column in columns]))

    return resolved


def _writing_json(writer: ResolvedWriterSchema, frame: bytes, options: FormatOptions) -> Encode:
    if not _lone_types(writer.text):
        return JSON.writing(writer, frame, options)
    encode = JSON.writing(writer, b"", options)

    def encoded(columns: pa.RecordBatch) -> pa.BinaryArray:
        objects = encode(columns.rename_columns([_LONE]))
        values = pc.binary_slice(objects, len(_LONE) + len('{"":'), -1)
        return pc.binary_join_element_wise(pa.scalar(frame), values, b"")

    return encoded


def _check_json(columns: pa.Schema, writer: ResolvedWriterSchema) -> None:
    lone_types = _lone_types(writer.text)
    if not lone_types:
        JSON.check_writable(columns, writer)
        return
    name, (kind,) = _only(columns.names), columns.types
    written = json_type(kind)
    if not lone_types & ({written, "number"} if written == "integer" else {written}):
        raise UnresolvableSchemaError(name, f"the column is {kind}, and the schema has {sorted(lone_types)}")


def _lone_types(text: str) -> frozenset[str]:
    """The types of a schema of JSON that is of a value alone; none where it may be an object."""
    schema: Any = json.loads(text)
    types = schema.get("type") if isinstance(schema, dict) else None
    names = frozenset([types] if isinstance(types, str) else types or ())
    return frozenset() if "object" in names else names


def _only(names: Sequence[str]) -> str:
    """The name of the one column; UnresolvableSchemaError where a key that is a value alone has several."""
    if len(names) > 1:
        raise UnresolvableSchemaError("", "it is a value alone, and the stream has several columns of keys")
    return names[0]


_NAMED: Final = "Key"
KEY_KINDS: Final[Mapping[str, RegisteredKind]] = {
    "avro": replace(
        AVRO,
        reading=_reading_avro,
        writing=_writing_avro,
        check_writable=_check_avro,
        own_schema=partial(own_avro_schema, name=_NAMED),
    ),
    "protobuf": replace(PROTOBUF, own_schema=partial(own_protobuf_schema, name=_NAMED)),
    "json": replace(JSON, reading=_reading_json, writing=_writing_json, check_writable=_check_json),
}
"""The kinds of schemas as they are of keys: those of Avro and JSON may be of a value alone."""
if KEY_KINDS.keys() != set(REGISTERED_KEYS):
    raise AssertionError("each format of registered keys has its row")

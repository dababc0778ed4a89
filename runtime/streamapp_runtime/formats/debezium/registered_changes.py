"""The Debezium format under a schema registry: changes, each by its own schema, and their keys."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import Column
from streamapp.spec.value_types.format_names import REGISTERED_KEYS
from streamapp_runtime.formats.arrow_types import spark_type
from streamapp_runtime.formats.avro.registered_avro import AVRO, own_avro_schema
from streamapp_runtime.formats.bad_record_isolation import rows_in_place
from streamapp_runtime.formats.debezium.change_keys import ChangeKeys
from streamapp_runtime.formats.debezium.change_rows import ChangeRows
from streamapp_runtime.formats.debezium.connect_json import CONNECT_JSON
from streamapp_runtime.formats.debezium.written_changes import writing_avro_changes
from streamapp_runtime.formats.debezium.written_json_changes import writing_json_changes
from streamapp_runtime.formats.format_options import FormatOptions, ResolvedWriterSchema
from streamapp_runtime.formats.json.json_spelling import JsonSpelling
from streamapp_runtime.formats.protobuf.registered_protobuf import PROTOBUF
from streamapp_runtime.formats.read_records import SchemaReader
from streamapp_runtime.formats.record_format import DecodedBatch, ReadKeys, UndecodableRecord
from streamapp_runtime.formats.registered_keys import key_format
from streamapp_runtime.formats.registry.registry_format import Reading, RegisteredKind, RegistryFormat
from streamapp_runtime.registered_schema import RegisteredSchema, SchemaLookup, UnresolvableSchemaError
from streamapp_runtime.rows.byte_columns import key_bytes, mask_without, true_places

_PLAIN_OPTIONS: Final = FormatOptions()
_FRAMED: Final = rb"(?s)^(\x00.{4}|\x01.{16})"


def _reading_no_protobuf(_: Sequence[Column], __: FormatOptions) -> Reading:
    def resolved(_: RegisteredSchema) -> SchemaReader:
        raise UnresolvableSchemaError(
            "",
            "changes in Protobuf are not read; set the connector's value.converter to the converter of Avro "
            "or JSON Schema",
        )

    return resolved


def _check_readable(columns: pa.Schema, writer: ResolvedWriterSchema, kind: RegisteredKind) -> None:
    """UnresolvableSchemaError where changes of these columns could not be read by the schema."""
    read = [Column(field.name, spark_type(field.type)) for field in columns]
    kind.reading(read, _PLAIN_OPTIONS)(RegisteredSchema(kind.name, writer.text, writer.dependencies))


def _kind_of_changes(kind: RegisteredKind, **parts: Any) -> RegisteredKind:
    kind = replace(kind, **parts, own_schema=partial(own_avro_schema, name="Envelope"))
    return replace(kind, check_writable=partial(_check_readable, kind=kind))


CHANGE_KINDS: Final[Mapping[str, RegisteredKind]] = {
    each.name: each
    for each in (
        _kind_of_changes(AVRO, writing=writing_avro_changes),
        _kind_of_changes(CONNECT_JSON, writing=writing_json_changes),
        _kind_of_changes(PROTOBUF, reading=_reading_no_protobuf),
    )
}
"""The kinds of schemas as they are of changes, by the names that a registry has for them."""


def change_writer(columns: Sequence[Column], writer: ResolvedWriterSchema, kind: str) -> RegistryFormat:
    """The format of changes, which have these columns, by a schema of this kind."""
    return RegistryFormat(CHANGE_KINDS[kind], columns, FormatOptions(writer=writer), None)


class RegisteredChanges:
    """Records that are changes of rows; `key` is the column by which rows are told apart."""

    def __init__(
        self, columns: Sequence[Column], key: str | None, schemas: SchemaLookup | None, *, flattened: bool
    ) -> None:
        self._changes = ChangeRows(columns, key, flattened=flattened)
        self.schema, read = self._changes.schema, self._changes.fields
        fields = [Column(field.name, spark_type(field.type)) for field in read]
        kind, *others = CHANGE_KINDS.values()
        self._records = RegistryFormat(kind, fields, _PLAIN_OPTIONS, schemas, others)
        key_column = self._changes.key
        self._keys = None if key_column is None else _RegisteredKeys(key_column, schemas)

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The row of each change; a deletion has null in every column, as a record without a value has."""
        decoded = self._records.decode(values)
        places = np.flatnonzero(pc.and_(values.is_valid(), decoded.good()))
        records = decoded.columns.take(pa.array(places))
        rows, faults = self._changes.read(records.columns)
        bad = {each.index: each.reason for each in decoded.bad}
        if faults:
            bad |= {int(places[place]): reason for place, reason in faults.items()}
            rows, places = rows.filter(mask_without(faults, len(rows))), np.delete(places, list(faults))
        every = tuple(UndecodableRecord(place, bad[place]) for place in sorted(bad))
        return self._changes.decoded(rows_in_place([rows], [places], len(values)), every)

    def read_keys(self, keys: pa.BinaryArray) -> ReadKeys:
        """The keys of records, with a schema, JSON or plain, as rows have keys."""
        return ReadKeys(keys, {}) if self._keys is None else self._keys.read(keys)

    def resolved(self, registered: RegisteredSchema, name: str) -> SchemaReader | str:
        """The reader of a schema of this name, or why there is none."""
        return self._records.resolved(registered, name)

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """A ValueError: an app does not write changes, and no schema says how."""
        return self._records.encode(columns)


class _RegisteredKeys:
    """The reader of keys: those behind a frame have a schema, others are JSON or plain."""

    def __init__(self, column: Column, schemas: SchemaLookup | None) -> None:
        self._framed = key_format(REGISTERED_KEYS, [column], schemas, whole=True)
        self._others = ChangeKeys(self._framed.schema.field(0), JsonSpelling(dates="days"))

    def read(self, keys: pa.BinaryArray) -> ReadKeys:
        """The key of each record; null where it has none, or one with a fault."""
        framed = pc.match_substring_regex(keys, _FRAMED).fill_null(False)
        places = true_places(framed)
        if not places:
            return self._others.read(keys)
        others, faults, _ = self._others.read(pc.if_else(framed, pa.scalar(None, pa.binary()), keys))
        decoded = self._framed.decode(keys.filter(framed))
        of_frames = {places[each.index]: f"its key: {each.reason}" for each in decoded.bad}
        read = pc.replace_with_mask(others, framed, key_bytes(decoded.columns.column(0)))
        return ReadKeys(read, {**faults, **of_frames})

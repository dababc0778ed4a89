"""The rows that the records of a stream hold, as JSON."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp_runtime.formats.format_options import options_of
from streamapp_runtime.formats.json.json_writer import json_records
from streamapp_runtime.formats.record_format import DecodedBatch, RecordFormat
from streamapp_runtime.formats.registered_keys import RegisteredKeys
from streamapp_runtime.formats.registry.schema_frames import KEY_HEADER, split_frames, with_header_frames
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.registered_schema import SchemaLookup
from streamapp_runtime.rows.byte_columns import byte_spans

SCHEMA_ID: Final = "schemaId"
KEY_SCHEMA_ID: Final = "keySchemaId"
"""The columns of decoded records that say what the schemas of values and keys are called in the registry."""


class DecodedKeys(NamedTuple):
    """The keys of records behind their frames, what they hold, and what of them is shown."""

    framed: pa.BinaryArray
    decoded: DecodedBatch
    shown: pa.BinaryArray  # an object of columns; a bad key as it is


def key_reader(
    stream: Stream, columns: Sequence[Column], schemas: SchemaLookup | None
) -> RegisteredKeys | None:
    """The reader of the keys of a stream whose values have these columns; None unless a registry has them."""
    if not stream.has_registered_keys:
        return None
    return RegisteredKeys(options_of(stream), stream.key_column_of(columns), schemas)


def decoded_keys(reader: RegisteredKeys, records: pa.RecordBatch) -> DecodedKeys:
    """The keys of records; headers, where these have any, may name their schemas."""
    keys = framed = records.column("key")
    if "headers" in records.schema.names:
        framed = with_header_frames(keys, records.column("headers"), KEY_HEADER)
    decoded = reader.decode(framed)
    objects = json_records(decoded.columns).cast(pa.binary())
    return DecodedKeys(framed, decoded, pc.if_else(pc.and_(decoded.good(), keys.is_valid()), objects, keys))


@dataclass(frozen=True, slots=True)
class RowDecoder:
    """The format of a stream, by which records become rows; what is wrong with a record is told."""

    form: RecordFormat
    keys: RegisteredKeys | None  # of a registry
    has_registry: bool
    tell: Callable[[str], None]

    @classmethod
    def of(cls, stream: Stream, schemas: SchemaLookup | None, tell: Callable[[str], None]) -> "RowDecoder":
        """The decoder of a stream that says its columns, with the schemas of its registry."""
        columns, options = parse_columns(stream.columns or ""), options_of(stream)
        form = open_format(stream.format, columns, options, schemas)
        return cls(form, key_reader(stream, columns, schemas), stream.registry, tell)

    @property
    def reads_headers(self) -> bool:
        """True if headers may name schemas."""
        return self.has_registry or self.keys is not None

    def decoded(self, label: str, records: pa.RecordBatch) -> pa.RecordBatch:
        """The records with rows as values, null where one deletes; a bad record stays as it is."""
        values = framed = records.column("value")
        if self.has_registry:  # a header may name the schema of a record
            framed = with_header_frames(values, records.column("headers"))
            records = records.append_column(SCHEMA_ID, _schema_ids(framed))
        decoded = self.form.decode(framed)
        rows = json_records(decoded.columns).cast(pa.binary())
        rows = pc.if_else(decoded.tombstones(values), pa.scalar(None, pa.binary()), rows)
        for bad in decoded.bad:
            self.tell(f"{label} at offset {records.column('offset')[bad.index]}: {bad.reason}")
        rows = pc.if_else(decoded.good(), rows, values)
        records = records.set_column(records.schema.get_field_index("value"), "value", rows)
        return records if self.keys is None else self._with_decoded_keys(label, records, self.keys)

    def _with_decoded_keys(
        self, label: str, records: pa.RecordBatch, reader: RegisteredKeys
    ) -> pa.RecordBatch:
        """The records with objects of the columns of keys as keys; a bad key stays as it is."""
        keys = decoded_keys(reader, records)
        for bad in keys.decoded.bad:
            self.tell(f"{label} at offset {records.column('offset')[bad.index]}: its key: {bad.reason}")
        records = records.append_column(KEY_SCHEMA_ID, _schema_ids(keys.framed))
        return records.set_column(records.schema.get_field_index("key"), "key", keys.shown)


def _schema_ids(framed: pa.BinaryArray) -> pa.StringArray:
    """The id of each record's schema; null where it names none."""
    names: list[str | None] = [None] * len(framed)
    for group in split_frames(byte_spans(framed), np.flatnonzero(framed.is_valid())).groups:
        for row in group.rows.tolist():
            names[row] = str(group.schema_id)
    return pa.array(names, pa.string())

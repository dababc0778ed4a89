"""Lines of JSON objects as records of a stream whose values are no text, or have schemas of a registry."""

from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.spec.value_types.format_names import READ_ONLY
from streamapp_runtime.cli.record_input.line_fields import KEY
from streamapp_runtime.driver.start.writer_schemas import open_row_writer
from streamapp_runtime.formats.debezium.written_changes import change_columns, keys_of_changes
from streamapp_runtime.formats.format_options import row_columns
from streamapp_runtime.formats.json.json_format import JsonFormat
from streamapp_runtime.formats.row_writer import KeyedRows, RowWriter, UnwritableRowError
from streamapp_runtime.registered_schema import WritableSchemas
from streamapp_runtime.rows.byte_columns import key_bytes
from streamapp_runtime.rows.lines import UnusableLineError


@dataclass(frozen=True, slots=True)
class RowLines:
    """The rows that lines hold, and how they are written."""

    stream: Stream
    form: JsonFormat
    writer: RowWriter

    @property
    def has_changes(self) -> bool:
        """True if lines are changes, which have the keys of their rows."""
        return self.stream.format in READ_ONLY

    @classmethod
    def of(cls, stream: Stream, schemas: WritableSchemas | None) -> Self:
        """The lines of a stream that says its columns, with the schemas of its registry, if it has one.

        WriterSchemaRefusedError where no schema fits the columns.
        """
        columns = parse_columns(stream.columns or "")
        writer = open_row_writer(stream, columns, schemas)
        if stream.format in READ_ONLY:  # a connector says more of a change than is read
            return cls(stream, JsonFormat(change_columns(columns, flattened=stream.flattened)), writer)
        return cls(stream, JsonFormat(row_columns(stream), strict=True), writer)

    def encoded(self, records: pa.RecordBatch, keys: pa.BinaryArray, numbers: pa.Array) -> pa.RecordBatch:
        """Records of lines with these numbers as those of the stream.

        `keys` are those that columns say; another one that a record has was given to it by itself.
        """
        texts, own = records.column("value"), records.column("key")
        decoded = self.form.decode(texts)
        for bad in decoded.bad:
            raise UnusableLineError(f"line {numbers[bad.index]}: {bad.reason}")
        rows = decoded.columns
        if self.has_changes and (key := self._key_of(rows)) is not None:
            rows, keys = rows.append_column("key", key), key_bytes(key)
            own = pc.coalesce(own, keys)
        differs = pc.coalesce(pc.not_equal(own, keys), pc.xor(own.is_valid(), keys.is_valid()))
        has_own_key = pc.or_(differs, texts.is_null())
        if self.stream.has_registered_keys and not self.stream.key_is_decoded and has_own_key.true_count:
            number = numbers.filter(has_own_key)[0]
            raise UnusableLineError(f"line {number}: keys are made of columns, and {KEY} says none of these")
        try:
            written = self.writer.write(KeyedRows(rows, own, has_own_key, texts.is_null()))
        except UnwritableRowError as unfit:
            raise UnusableLineError(f"line {numbers[unfit.number]}: {unfit}") from None
        columns = [written.keys, written.values, *records.columns[2:]]
        return pa.RecordBatch.from_arrays(columns, schema=records.schema)

    def _key_of(self, changes: pa.RecordBatch) -> pa.Array | None:
        """The key column of the rows that changes are of."""
        return keys_of_changes(changes, parse_columns(self.stream.columns or ""), self.stream.key_in_values)

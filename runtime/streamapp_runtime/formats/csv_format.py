"""The CSV format: a record is one line without a header, whose fields are the columns in their order.

| column | read from | written as |
| --- | --- | --- |
| numbers | the digits; of a DECIMAL exact | the same |
| BOOLEAN | true, false, 1, 0 | true, false |
| STRING | a field of valid UTF-8, with quotes or without | with quotes where it needs some |
| BINARY, DATE, TIMESTAMP | as in JSON | the same |

A field without quotes that is the text of null is null; one in quotes never is. A quote within quotes stands
twice.
Another number of fields makes a record bad, and so does a second line, unless its break stands in quotes.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from streamapp.spec.problem import short
from streamapp.spec.resource.streams import CsvSigns
from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.formats.arrow_types import UnknownTypeError, arrow_schema
from streamapp_runtime.formats.bad_record_isolation import decode_around_bad_records, rows_in_place
from streamapp_runtime.formats.json.json_writer import plain_texts
from streamapp_runtime.formats.json.type_conversion import conversion_of
from streamapp_runtime.formats.record_format import DecodedBatch, UndecodableError, UndecodableRecord
from streamapp_runtime.formats.required_columns import check_required, required_columns
from streamapp_runtime.formats.value_conversions import cast_to, fitting

_BREAK: Final = r"[\r\n]"


class CsvFormat:
    """Records that are lines of fields."""

    def __init__(self, columns: Sequence[Column], signs: CsvSigns) -> None:
        self.schema = arrow_schema(columns)
        for field in self.schema:
            if pa.types.is_nested(field.type):
                raise UnknownTypeError(f"CSV has no place for the parts of {field.name}")
        self._required = required_columns(columns)
        self._types = [column.type for column in columns]
        self._delimiter, self._quote, self._null_text = signs.delimiter, signs.quote, signs.null_text
        self._special = f"[{re.escape(signs.delimiter + signs.quote)}\\r\\n]"
        self._names = [str(place) for place in range(len(columns))]
        self._conversion = arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(self._names, pa.string()),
            null_values=[signs.null_text],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )

    def decode(self, values: pa.BinaryArray) -> DecodedBatch:
        """The columns of each value. Those that have line breaks are read one by one."""
        broken = np.flatnonzero(pc.match_substring_regex(values, _BREAK).fill_null(False))
        if not len(broken):
            return decode_around_bad_records(values, self._read)
        alone = pc.replace_substring_regex(values.take(pa.array(broken)), r"\r?\n\z", "")
        others = np.delete(np.arange(len(values)), broken)
        parts = [decode_around_bad_records(values.take(pa.array(others)), self._read)]
        parts += [decode_around_bad_records(alone.slice(place, 1), self._read) for place in range(len(alone))]
        places = [others, *broken.reshape(-1, 1)]
        bad = {
            int(rows[each.index]): each.reason
            for rows, part in zip(places, parts, strict=True)
            for each in part.bad
        }
        columns = rows_in_place([part.columns for part in parts], places, len(values))
        return DecodedBatch(columns, tuple(UndecodableRecord(row, bad[row]) for row in sorted(bad)))

    def encode(self, columns: pa.RecordBatch) -> pa.BinaryArray:
        """The line of each row."""
        texts = [self._texts(column) for column in columns.columns]
        lines = pc.binary_join_element_wise(
            *texts, self._delimiter, null_handling="replace", null_replacement=self._null_text
        )
        return lines.cast(pa.binary())

    def _read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        unfit = fitting(values, cast_to(pa.string())).unfit
        faults = dict.fromkeys(unfit.tolist(), "the value is no valid UTF-8")
        if len(self._names) > 1:
            empty = np.flatnonzero(pc.equal(pc.binary_length(values), 0))
            reason = f"an empty line where {len(self._names)} fields are expected"
            faults |= dict.fromkeys(empty.tolist(), reason)
        if faults:
            raise UndecodableError(next(iter(faults.values())), faults)
        fields = [self._converted(place, column) for place, column in enumerate(self._fields(values))]
        faults = {row: fault for _, named in fields for row, fault in named.items()}
        if faults:
            raise UndecodableError(next(iter(faults.values())), faults)
        rows = pa.RecordBatch.from_arrays([column for column, _ in fields], schema=self.schema)
        return check_required(rows, self._required)

    def _fields(self, values: pa.BinaryArray) -> list[pa.Array]:
        """The fields of each value as texts; a line before all and one behind show what a quote swallows."""
        edge = self._delimiter * (len(self._names) - 1)
        lines = pa.concat_arrays([pa.array([edge.encode()]), values, pa.array([edge.encode(), b""])])
        text = pc.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), b"\n")[0].as_buffer()
        refused: dict[int, str] = {}
        parsing = arrow_csv.ParseOptions(
            delimiter=self._delimiter,
            quote_char=self._quote,
            newlines_in_values=True,
            ignore_empty_lines=False,
            invalid_row_handler=partial(_note, refused),
        )
        reading = arrow_csv.ReadOptions(use_threads=False, block_size=text.size + 1, column_names=self._names)
        try:
            table = arrow_csv.read_csv(pa.BufferReader(text), reading, parsing, self._conversion)
        except pa.ArrowInvalid as wrong:
            raise UndecodableError(f"no CSV: {short(str(wrong))}") from None
        if table.num_rows + len(refused) != len(values) + 2:
            raise UndecodableError("no line of CSV: a quote is not closed, or there is more than one line")
        if refused:
            raise UndecodableError(next(iter(refused.values())), refused)
        return [column.combine_chunks().slice(1, len(values)) for column in table.columns]

    def _converted(self, place: int, column: pa.StringArray) -> tuple[pa.Array, dict[int, str]]:
        field = self.schema.field(place)
        converted = fitting(column, partial(_convert, kind=field.type))
        return converted.values, {
            row: f'{field.name}: "{short(column[row].as_py())}" is no {self._types[place]}'
            for row in converted.unfit.tolist()
        }

    def _texts(self, column: pa.Array) -> pa.StringArray:
        """The field of each value, in quotes where it would be read as another one."""
        texts = column if pa.types.is_string(column.type) else plain_texts(column)
        same_as_null = pc.equal(texts, self._null_text)
        special = pc.or_(pc.match_substring_regex(texts, self._special), same_as_null).fill_null(False)
        if not special.true_count:
            return texts
        doubled = pc.replace_substring(texts.filter(special), self._quote, self._quote * 2)
        quoted = pc.binary_join_element_wise(self._quote, doubled, self._quote, "")
        return pc.replace_with_mask(texts, special, quoted)


def _note(refused: dict[int, str], row: Any) -> str:
    """Note a line with another number of fields. Lines count from 1, and the first one is of no record."""
    reason = f"{row.actual_columns} fields where {row.expected_columns} are expected"
    refused[row.number - 2] = reason
    return "skip"


def _convert(texts: pa.StringArray, kind: pa.DataType) -> pa.Array:
    """The values of fields; ArrowInvalid where one is none."""
    way = conversion_of(kind)
    try:
        read = texts if way.read == texts.type else texts.cast(way.read)
        return way.convert(read) if way.convert else read
    except UndecodableError as unfit:
        raise pa.ArrowInvalid(unfit.reason) from None

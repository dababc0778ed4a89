"""Reading JSON: all records of a batch in one run of Arrow's reader, which finds them by a line break.

The reader was made for files and trusts them more than records may be trusted: it ends the process on a text
that is only `null`, and takes two objects in one record for two records. So each value is first seen to begin
and end as an object does, and the rows are counted: between values that stand in braces a line break can be
nothing else than the end of one record and the beginning of the next.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from streamapp.spec.problem import short
from streamapp_runtime.formats.bad_record_isolation import BLOCK_RECORDS
from streamapp_runtime.formats.json.arrow_messages import explain_arrow_message
from streamapp_runtime.formats.json.json_spelling import PLAIN, JsonSpelling
from streamapp_runtime.formats.json.map_respelling import has_map, maps_as_entries
from streamapp_runtime.formats.json.record_check import refused_rows
from streamapp_runtime.formats.json.type_conversion import Convert, TypeConversion, conversion_of
from streamapp_runtime.formats.record_format import UndecodableError
from streamapp_runtime.formats.required_columns import check_required
from streamapp_runtime.rows.byte_columns import byte_spans

MOST_BYTES = 1 << 30
_SPACE = " \t\r\n"
_OPENS, _CLOSES = ord("{"), ord("}")


class JsonReader:
    """Reads records of the given columns, of which some have to have a value.

    `conversions` are those of the columns where each has a spelling of its own.
    """

    def __init__(
        self,
        schema: pa.Schema,
        required: Sequence[str] = (),
        spelling: JsonSpelling = PLAIN,
        *,
        strict: bool = False,
        conversions: Sequence[TypeConversion] | None = None,
    ) -> None:
        self.schema, self._required = schema, required
        self._ways = conversions or [conversion_of(field.type, spelling) for field in schema]
        self._record = pa.struct(list(self.schema))
        self._maps = has_map(self._record)
        self._read = pa.schema(
            [(field.name, way.read) for field, way in zip(self.schema, self._ways, strict=True)]
        )
        self._strict = strict
        self._parse = arrow_json.ParseOptions(
            explicit_schema=self._read, unexpected_field_behavior="error" if strict else "ignore"
        )

    def read(self, values: pa.BinaryArray) -> pa.RecordBatch:
        """The columns of the values, none of which is null; UndecodableError when one of them is bad."""
        if len(values) == 0:
            return _no_rows(self.schema)
        framed = _framed(values)
        table = self._rows(maps_as_entries(framed, self._record) if self._maps else framed)
        parts = zip(self.schema.names, table.columns, self._ways, strict=True)
        columns = [_converted(name, column.combine_chunks(), way) for name, column, way in parts]
        return check_required(pa.RecordBatch.from_arrays(columns, schema=self.schema), self._required)

    def _rows(self, values: pa.BinaryArray) -> pa.Table:
        text = byte_spans(pc.binary_join_element_wise(values, b"\n", b"")).data
        # One block: where the reader cuts a text into several it does so at line breaks, and these may
        # stand within a record as well.
        options = arrow_json.ReadOptions(use_threads=False, block_size=len(text) + 1)
        try:
            table = arrow_json.read_json(pa.BufferReader(pa.py_buffer(text)), options, self._parse)
        except pa.ArrowInvalid as wrong:
            raise self._undecodable(values, explain_arrow_message(str(wrong))) from None
        if table.num_rows != len(values):
            raise self._undecodable(values, "more than one JSON object")
        return table

    def _undecodable(self, values: pa.BinaryArray, reason: str) -> UndecodableError:
        named = refused_rows(values, self._read, strict=self._strict) if len(values) <= BLOCK_RECORDS else {}
        return UndecodableError(next(iter(named.values()), reason), named)


def _framed(values: pa.BinaryArray) -> pa.BinaryArray:
    """The values without the space around them, each in braces and all together not too long."""
    bounds, data = byte_spans(values)
    if bounds[-1] > MOST_BYTES:
        raise UndecodableError(f"longer than {MOST_BYTES:,} bytes")
    if _in_braces(bounds, data).all():
        return values
    trimmed = pc.ascii_trim(values.view(pa.string()), _SPACE).view(pa.binary())
    fine = _in_braces(*byte_spans(trimmed))
    if fine.all():
        return trimmed
    named = {int(row): _no_object(trimmed[row].as_py()) for row in np.flatnonzero(~fine)}
    raise UndecodableError(next(iter(named.values())), named)


def _no_object(value: bytes) -> str:
    return f"no JSON object: {short(value[:40].decode(errors='replace')) if value else 'empty'}"


def _in_braces(bounds: np.ndarray, data: np.ndarray) -> np.ndarray:
    """A mask of the entries that have an opening brace first and a closing one last."""
    fine = np.diff(bounds) > 1
    fine[fine] = (data[bounds[:-1][fine]] == _OPENS) & (data[bounds[1:][fine] - 1] == _CLOSES)
    return fine


def _converted(name: str, column: pa.Array, way: TypeConversion) -> pa.Array:
    if way.convert is None:
        return column
    try:
        return way.convert(column)
    except (pa.ArrowInvalid, UndecodableError) as wrong:
        rows = range(len(column)) if 1 < len(column) <= BLOCK_RECORDS else ()
        named = {row: fault for row in rows if (fault := _fault(name, column, row, way.convert))}
        raise UndecodableError(explain_arrow_message(str(wrong), name), named) from None


def _fault(name: str, column: pa.Array, row: int, convert: Convert) -> str | None:
    try:
        convert(column.take([row]))
    except (pa.ArrowInvalid, UndecodableError) as wrong:
        return explain_arrow_message(str(wrong), name)
    return None


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)

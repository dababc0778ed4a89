"""From rows of bytes to typed columns, whole batches at a time. The form is in form.py."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_spans, cut, numbers, validity
from streamapp_runtime.rows.row_form import (
    Bytes,
    Positions,
    RowFormError,
    element_types,
    is_bytes,
    null_row,
    row_layout,
    types_of,
)
from streamapp_runtime.runtime_durable_forms import ROW

Mask = npt.NDArray[np.bool_]


def decode(values: pa.BinaryArray, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of rows; a null value is a row of nulls. RowFormError for bytes that are no such rows."""
    columns = _decoded(values, types_of(schema))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclass(frozen=True, slots=True)
class _Rows:
    content: Bytes
    starts: Positions
    ends: Positions


def _decoded(values: pa.BinaryArray, types: tuple[pa.DataType, ...]) -> list[pa.Array]:
    if values.null_count:
        values = values.fill_null(pa.scalar(null_row(types), values.type))
    bounds, content = byte_spans(values)
    rows = _Rows(content, bounds[:-1], bounds[1:])
    form = row_layout(types)
    _check_heads(rows, form.size)
    columns: dict[int, pa.Array] = {}
    for number, at, width in form.fixed:
        columns[number] = _fixed(rows, at, width, types[number], _mask(rows, number))
    begin = rows.starts + form.size
    for number, at in form.varying:
        end = begin + numbers(content, rows.starts + at, "<u4").astype(np.int64)
        _refuse_if(end > rows.ends)
        columns[number] = _varying(content, begin, end, types[number], _mask(rows, number))
        begin = end
    _refuse_if(begin != rows.ends)
    return [columns[number] for number in range(len(types))]


def _check_heads(rows: _Rows, size: int) -> None:
    _refuse_if(rows.ends - rows.starts < size)
    forms = rows.content[rows.starts]
    if (forms != ROW.version).any():
        version = ROW.read_version(int(forms[forms != ROW.version][0]))
        raise RowFormError(f"{version}")


def _refuse_if(wrong: Mask) -> None:
    if wrong.any():
        raise RowFormError(f"the bytes at place {int(np.argmax(wrong))} are no row of these columns")


def _mask(rows: _Rows, number: int) -> Mask | None:
    """The mask of a column's nulls; None where there are none."""
    bits = rows.content[rows.starts + (1 + number // 8)] & (1 << (number % 8))
    return bits.astype(bool) if bits.any() else None


def _fixed(rows: _Rows, at: int, width: int, kind: pa.DataType, mask: Mask | None) -> pa.Array:
    if not width:
        return pa.nulls(len(rows.starts), kind)
    if pa.types.is_boolean(kind):
        return pa.array(rows.content[rows.starts + at].astype(bool), kind, mask=mask)
    # A gather of plain numbers is six times as fast as one of opaque bytes.
    values = numbers(rows.content, rows.starts + at, f"u{width}" if width <= 8 else f"V{width}")
    content = pa.py_buffer(values.view(np.uint8))
    return pa.Array.from_buffers(kind, len(values), [validity(mask), content])


def _varying(
    content: Bytes, starts: Positions, ends: Positions, kind: pa.DataType, mask: Mask | None
) -> pa.Array:
    if is_bytes(kind):
        values = _masked(cut(content, starts, ends), mask)
        try:
            return values.cast(kind)
        except pa.ArrowInvalid as error:
            raise RowFormError(f"a text of a row cannot be read: {error}") from error
    if pa.types.is_struct(kind):
        fields = [kind.field(number) for number in range(kind.num_fields)]
        columns = _decoded(_masked(cut(content, starts, ends), mask), types_of(fields))
        return pa.StructArray.from_arrays(columns, fields=fields, mask=_as_array(mask))
    return _sequences(content, starts, ends, kind, mask)


def _sequences(
    content: Bytes, starts: Positions, ends: Positions, kind: pa.DataType, mask: Mask | None
) -> pa.Array:
    """Lists or maps. A null one has no bytes at all and reads as one without elements."""
    sizes = np.zeros(len(starts) + 1, np.int64)
    present = np.flatnonzero(ends > starts)
    starts, ends = starts[present], ends[present]
    _refuse_if(ends - starts < 4)
    counts = numbers(content, starts, "<u4").astype(np.int64)
    _refuse_if(4 + 4 * counts > ends - starts)
    firsts = np.cumsum(counts) - counts  # which element of all is each list's first
    within = np.arange(counts.sum()) - np.repeat(firsts, counts)
    lengths = numbers(content, np.repeat(starts + 4, counts) + 4 * within, "<u4").astype(np.int64)
    before = np.concatenate([[0], np.cumsum(lengths)])  # bytes of all elements before each
    begin = starts + 4 + 4 * counts
    _refuse_if(begin + before[firsts + counts] - before[firsts] != ends)
    begins = np.repeat(begin - before[firsts], counts) + before[:-1]
    columns = _decoded(cut(content, begins, begins + lengths), element_types(kind))
    sizes[present + 1] = counts
    bounds = np.cumsum(sizes)
    if pa.types.is_map(kind):
        offsets = pa.array(bounds.astype(np.int32))
        return pa.MapArray.from_arrays(offsets, *columns, type=kind, mask=_as_array(mask))
    if pa.types.is_large_list(kind):
        offsets = pa.array(bounds)
        return pa.LargeListArray.from_arrays(offsets, columns[0], type=kind, mask=_as_array(mask))
    offsets = pa.array(bounds.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, columns[0], type=kind, mask=_as_array(mask))


def _as_array(mask: Mask | None) -> pa.BooleanArray | None:
    return None if mask is None else pa.array(mask)


def _masked(values: pa.BinaryArray, mask: Mask | None) -> pa.BinaryArray:
    if mask is None:
        return values
    return pa.Array.from_buffers(values.type, len(values), [validity(mask), *values.buffers()[1:]])

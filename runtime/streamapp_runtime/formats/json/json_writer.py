"""Writing JSON: each column's texts at once, then one join that makes the records.

The fields stand in the columns' order, and what is null is written as null, so that every record of a stream
has the same form.
"""

import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.formats.json import base64_text
from streamapp_runtime.formats.json.string_escaping import escape_strings

_NAIVE = pa.timestamp("us")


def json_records(columns: pa.RecordBatch) -> pa.StringArray:
    """One JSON object for each row."""
    return _objects(columns.schema.names, columns.columns)


def plain_texts(column: pa.Array) -> pa.StringArray:
    """The text of each entry without its quotes, null where it is null."""
    return _bare(column)[0]


def _objects(names: list[str], columns: list[pa.Array]) -> pa.StringArray:
    """Quotes around a column's texts are joined with the names, where no null stands among them."""
    parts: list[str | pa.Array] = []
    before = "{"
    for name, column in zip(names, columns, strict=True):
        texts, quote = _bare(column)
        if quote and texts.null_count:
            texts, quote = _quoted(texts), ""
        parts += [f"{before}{json.dumps(name, ensure_ascii=False)}:{quote}", texts]
        before = f"{quote},"
    ending = before.removesuffix(",") + "}"
    return pc.binary_join_element_wise(*parts, ending, "", null_handling="replace", null_replacement="null")


def _bare(column: pa.Array) -> tuple[pa.Array, str]:
    """Each entry's text, null where it is null, and the quote that is expected around it."""
    for fits, texts, quote in _TEXTS:
        if fits(column.type):
            return texts(column), quote
    return column.cast(pa.string()), ""


def _text(column: pa.Array) -> pa.Array:
    """Each entry's text with its quotes, null where it is null."""
    texts, quote = _bare(column)
    return _quoted(texts) if quote else texts


def _quoted(texts: pa.Array) -> pa.Array:
    return pc.binary_join_element_wise('"', texts, '"', "")


def _dates(column: pa.Array) -> pa.StringArray:
    return column.cast(pa.string())


def _times(column: pa.TimestampArray) -> pa.StringArray:
    """ISO 8601. Arrow is thirty times slower where a type names a zone; that is always UTC and told later."""
    texts = pc.replace_substring(column.view(_NAIVE).cast(pa.string()), " ", "T", max_replacements=1)
    return pc.binary_join_element_wise(texts, "Z", "") if column.type.tz else texts


def _floats(column: pa.Array) -> pa.StringArray:
    """The shortest digits that give the same number. JSON has no infinities; many readers know the names."""
    texts = column.cast(pa.string())
    finite = pc.is_finite(column)
    if pc.all(finite).as_py() in {True, None}:
        return texts
    above, below = pc.equal(column, float("inf")), pc.equal(column, float("-inf"))
    named = pc.if_else(above, "Infinity", pc.if_else(below, "-Infinity", "NaN"))
    return pc.if_else(finite, texts, named)


def _lists(column: pa.ListArray) -> pa.StringArray:
    return _enclosed("[", column, _text(_used(column, column.values)).fill_null("null"), "]")


def _maps(column: pa.MapArray) -> pa.StringArray:
    names = _quoted(_bare(_used(column, column.keys))[0])
    values = _text(_used(column, column.items)).fill_null("null")
    return _enclosed("{", column, pc.binary_join_element_wise(names, values, ":"), "}")


def _used(column: pa.Array, entries: pa.Array) -> pa.Array:
    """The entries of a column that may be part of a longer one."""
    offsets = column.offsets
    return entries.slice(offsets[0].as_py(), offsets[-1].as_py() - offsets[0].as_py())


def _enclosed(opening: str, column: pa.Array, entries: pa.StringArray, closing: str) -> pa.StringArray:
    """The entries of each list or map with commas between them; null where the column is null."""
    offsets = pc.subtract(column.offsets, column.offsets[0])
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, entries), ",")
    return _null_like(column, pc.binary_join_element_wise(opening, joined, closing, ""))


def _structs(column: pa.StructArray) -> pa.StringArray:
    names = [field.name for field in column.type]
    return _null_like(column, _objects(names, column.flatten()))


def _null_like(column: pa.Array, texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(column.is_valid(), texts, None) if column.null_count else texts


_TEXTS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[pa.Array], pa.Array], str], ...] = (
    (pa.types.is_string, escape_strings, '"'),
    (pa.types.is_binary, base64_text.to_text, '"'),
    (pa.types.is_timestamp, _times, '"'),
    (pa.types.is_date, _dates, '"'),
    (pa.types.is_floating, _floats, ""),
    (pa.types.is_list, _lists, ""),
    (pa.types.is_map, _maps, ""),
    (pa.types.is_struct, _structs, ""),
)

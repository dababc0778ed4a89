"""Conversions of column types for JSON: the type that Arrow's reader is asked for, and what is made of it.

The reader knows numbers, texts, lists and objects. Times, dates and binaries are texts; a map is read as a
list of its entries (see `maps`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.column_list import MOST_DIGITS
from streamapp_runtime.formats.arrow_types import UnknownTypeError
from streamapp_runtime.formats.json import base64_text
from streamapp_runtime.formats.json.arrow_messages import explain_arrow_message
from streamapp_runtime.formats.json.json_spelling import PLAIN, JsonSpelling
from streamapp_runtime.formats.json.numbered_times import times_of_numbers
from streamapp_runtime.formats.record_format import UndecodableError
from streamapp_runtime.formats.value_conversions import dates, decimals, of_isostrings, times_of_texts

Convert = Callable[[pa.Array], pa.Array]
"""An array as it was read to one of the column's type, or ArrowInvalid or UndecodableError."""


@dataclass(frozen=True, slots=True)
class TypeConversion:
    """The type that the reader is asked for; `convert` is absent where that is the column's type already."""

    read: pa.DataType
    convert: Convert | None = None


def conversion_of(kind: pa.DataType, spelling: JsonSpelling = PLAIN) -> TypeConversion:
    """The way across for a column type."""
    return next((way(kind, spelling) for fits, way in _WAYS if fits(kind)), TypeConversion(kind))


def _text(kind: pa.DataType, _: JsonSpelling) -> TypeConversion:
    return TypeConversion(kind, _checked)


def _binary(_: pa.DataType, __: JsonSpelling) -> TypeConversion:
    return TypeConversion(pa.string(), base64_text.from_text)


def _timestamp(kind: pa.TimestampType, spelling: JsonSpelling) -> TypeConversion:
    form = spelling.timestamps if kind.tz else spelling.local_timestamps
    if form == "isostring":
        return TypeConversion(pa.string(), lambda texts: of_isostrings(texts, kind))
    if form != "text":
        return TypeConversion(pa.int64(), lambda numbers: times_of_numbers(numbers, kind, form))
    return TypeConversion(pa.string(), lambda texts: times_of_texts(texts, kind))


def _date(kind: pa.DataType, spelling: JsonSpelling) -> TypeConversion:
    if spelling.dates == "days":
        return TypeConversion(pa.int32(), dates)
    if spelling.dates == "isostring":
        return TypeConversion(pa.string(), lambda texts: of_isostrings(texts, kind))
    return TypeConversion(pa.string(), lambda texts: texts.cast(kind))


def _decimal(kind: pa.Decimal128Type, spelling: JsonSpelling) -> TypeConversion:
    """The reader counts the zeros behind 1.500 as digits; given room it takes them, and the cast checks."""
    if spelling.decimals == "base64":
        of_bytes = decimals(kind.scale, kind)
        return TypeConversion(pa.string(), lambda texts: of_bytes(base64_text.from_text(texts)))
    return TypeConversion(pa.decimal128(MOST_DIGITS, kind.scale), lambda numbers: numbers.cast(kind))


def _float(kind: pa.DataType, _: JsonSpelling) -> TypeConversion:
    """The reader makes infinity of a number that is too large; a DOUBLE still has it."""
    return TypeConversion(pa.float64(), lambda numbers: _narrowed(numbers, kind))


def _narrowed(numbers: pa.DoubleArray, kind: pa.DataType) -> pa.FloatArray:
    narrow = numbers.cast(kind)
    beyond = pc.and_(pc.is_inf(narrow), pc.is_finite(numbers))
    if beyond.true_count:
        raise UndecodableError(f"{numbers.filter(beyond)[0].as_py()} is no float")
    return narrow


def _checked(texts: pa.StringArray) -> pa.StringArray:
    """The reader does not look whether bytes are UTF-8."""
    texts.validate(full=True)
    return texts


def _list(kind: pa.ListType, spelling: JsonSpelling) -> TypeConversion:
    return list_conversion(kind, conversion_of(kind.value_type, spelling))


def list_conversion(kind: pa.ListType, inner: TypeConversion) -> TypeConversion:
    """The way across for a list, by that of its entries."""
    read = pa.list_(pa.field("element", inner.read))
    return TypeConversion(read, _converting_entries(inner.convert, kind) if inner.convert else None)


def _converting_entries(convert: Convert, kind: pa.ListType) -> Convert:
    def converted(lists: pa.ListArray) -> pa.ListArray:
        return pa.ListArray.from_arrays(lists.offsets, convert(lists.values), type=kind, mask=_nulls(lists))

    return converted


def _struct(kind: pa.StructType, spelling: JsonSpelling) -> TypeConversion:
    return struct_conversion(kind, [conversion_of(field.type, spelling) for field in kind])


def struct_conversion(kind: pa.StructType, inner: Sequence[TypeConversion]) -> TypeConversion:
    """The way across for a struct, by those of its fields."""
    names = [field.name for field in kind]
    read = pa.struct([(name, each.read) for name, each in zip(names, inner, strict=True)])

    def converted(structs: pa.StructArray) -> pa.StructArray:
        fields = [_field(*each, structs.field(at)) for at, each in enumerate(zip(names, inner, strict=True))]
        return pa.StructArray.from_arrays(fields, fields=list(kind), mask=_nulls(structs))

    return TypeConversion(read, converted if any(each.convert for each in inner) else None)


def _map(kind: pa.MapType, spelling: JsonSpelling) -> TypeConversion:
    if pa.types.is_nested(kind.key_type):
        raise UnknownTypeError(
            f"a map's keys cannot be of type {kind.key_type} in JSON, where they are names"
        )
    keys, values = conversion_of(kind.key_type), conversion_of(kind.item_type, spelling)
    read = pa.list_(pa.struct([("key", keys.read), ("value", values.read)]))

    def converted(lists: pa.ListArray) -> pa.MapArray:
        entries = lists.values
        parts = _across(keys, entries.field(0)), _across(values, entries.field(1))
        _refuse_repeated(parts[0], lists)
        return pa.MapArray.from_arrays(lists.offsets, *parts, type=kind, mask=_nulls(lists))

    return TypeConversion(read, converted)


def _refuse_repeated(keys: pa.Array, lists: pa.ListArray) -> None:
    """UndecodableError where a map has a key twice, be it in two spellings."""
    encoded = keys.dictionary_encode()
    maps = np.repeat(np.arange(len(lists)), pc.fill_null(lists.value_lengths(), 0).to_numpy())
    places = maps * max(len(encoded.dictionary), 1) + encoded.indices.to_numpy(zero_copy_only=False)
    distinct, first = np.unique(places, return_index=True)
    if len(distinct) < len(places):
        repeated = np.setdiff1d(np.arange(len(places)), first)[0]
        raise UndecodableError(f"a MAP has the key {keys[int(repeated)].as_py()!r} twice")


def _field(name: str, way: TypeConversion, array: pa.Array) -> pa.Array:
    try:
        return _across(way, array)
    except (pa.ArrowInvalid, UndecodableError) as wrong:
        raise UndecodableError(explain_arrow_message(str(wrong), name)) from None


def _across(way: TypeConversion, array: pa.Array) -> pa.Array:
    return way.convert(array) if way.convert else array


def _nulls(array: pa.Array) -> pa.BooleanArray | None:
    return array.is_null() if array.null_count else None


_WAYS: tuple[
    tuple[Callable[[pa.DataType], bool], Callable[[pa.DataType, JsonSpelling], TypeConversion]], ...
] = (
    (pa.types.is_string, _text),
    (pa.types.is_binary, _binary),
    (pa.types.is_float32, _float),
    (pa.types.is_timestamp, _timestamp),
    (pa.types.is_date, _date),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_list, _list),
    (pa.types.is_struct, _struct),
    (pa.types.is_map, _map),
)

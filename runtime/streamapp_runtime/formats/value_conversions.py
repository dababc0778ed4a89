"""Conversions of written values into those of columns, exact: what does not fit is an ArrowInvalid."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.rows.byte_columns import byte_spans
from streamapp_runtime.rows.row_form import Positions

Convert = Callable[[pa.Array], pa.Array]
"""The values in another type; ArrowInvalid where one does not fit."""

_MOST_BYTES: Final = 16  # of a decimal of 38 digits
_YEARS: Final = {
    pa.timestamp("us"): (-62_135_596_800_000_000, 253_402_300_799_999_999),
    pa.date32(): (-719_162, 2_932_896),
}
"""The first and the last number of the years 1 to 9999, which are those of all formats."""


class ConvertedValues(NamedTuple):
    """The values in another type, null where one does not fit, and the places of these."""

    values: pa.Array
    unfit: Positions


def fitting(values: pa.Array, convert: Convert) -> ConvertedValues:
    """The values that fit, converted."""
    try:
        return ConvertedValues(convert(values), np.zeros(0, np.int64))
    except pa.ArrowInvalid:
        unfit = np.array(_unfit(values, convert), np.int64)
    fits = np.ones(len(values), bool)
    fits[unfit] = False
    fitting_places = np.flatnonzero(fits)
    places = np.full(len(values), -1)
    places[fitting_places] = np.arange(len(fitting_places))
    good = convert(values.take(pa.array(fitting_places)))
    return ConvertedValues(good.take(pa.array(places, mask=~fits)), unfit)


def _unfit(values: pa.Array, convert: Convert, first: int = 0) -> list[int]:
    """The places of the values that do not fit, found by halves."""
    try:
        convert(values)
    except pa.ArrowInvalid:
        half = len(values) // 2
        if not half:
            return [first]
        return _unfit(values.slice(0, half), convert, first) + _unfit(
            values.slice(half), convert, first + half
        )
    return []


def cast_to(kind: pa.DataType) -> Convert:
    """The value itself, where the type has room for it."""
    return lambda values: values.cast(kind)


def rounded_to(kind: pa.DataType) -> Convert:
    """A whole number as the nearest number with a point, as Avro promotes it."""
    return lambda values: values.cast(kind, safe=False)


def dates(days: pa.Array) -> pa.Array:
    """Days since 1970 began."""
    return within_years(days.cast(pa.int32()), pa.date32()).cast(pa.date32())


def times(unit: str, kind: pa.DataType) -> Convert:
    """Times counted in a unit since 1970 began, cut to microseconds."""

    def converted(numbers: pa.Array) -> pa.Array:
        micros = numbers.cast(pa.timestamp(unit)).cast(pa.timestamp("us"), safe=unit != "ns")
        return within_years(micros.cast(pa.int64()), pa.timestamp("us")).cast(kind)

    return converted


def times_of_texts(texts: pa.StringArray, kind: pa.TimestampType) -> pa.TimestampArray:
    """Nearly all texts are what Arrow reads; only where one is not, all are brought into that form."""
    try:
        return texts.cast(kind)
    except pa.ArrowInvalid as unusual:
        try:
            return _usual_form(texts, zoned=kind.tz is not None).cast(kind)
        except pa.ArrowInvalid:
            raise unusual from None  # it tells the text as it was


def of_isostrings(texts: pa.StringArray, kind: pa.DataType) -> pa.Array:
    """Dates, and times without a zone, that Debezium writes with the sign of UTC."""
    texts = pc.replace_substring_regex(texts, "Z$", "")
    return times_of_texts(texts, kind) if pa.types.is_timestamp(kind) else texts.cast(kind)


def _usual_form(texts: pa.StringArray, zoned: bool) -> pa.StringArray:
    """Microseconds instead of nanoseconds; UTC where no zone is named; midnight where only a date is."""
    texts = pc.replace_substring_regex(texts, r"(\.\d{6})\d{1,3}", r"\1")
    if not zoned:
        return texts
    dates = pc.match_substring_regex(texts, r"^\d{4}-\d\d-\d\d$")
    texts = pc.if_else(dates, pc.binary_join_element_wise(texts, "00:00:00", "T"), texts)
    named = pc.match_substring_regex(texts, r":[0-9:.]+(Z|[+-][0-9:]+)$")
    return pc.if_else(named, texts, pc.binary_join_element_wise(texts, "Z", ""))


def decimals(scale: int, kind: pa.DataType) -> Convert:
    """Numbers without a point, in two's complement, the first byte the greatest."""

    def converted(values: pa.Array) -> pa.Array:
        bounds, data = byte_spans(values)
        sizes = np.diff(bounds)
        if (sizes > _MOST_BYTES).any():
            raise pa.ArrowInvalid("more than 38 digits")
        data = np.append(data, np.uint8(0))
        negative = (sizes > 0) & (data[bounds[:-1]] > 0x7F)
        octets = np.repeat(np.where(negative, 0xFF, 0).astype(np.uint8), _MOST_BYTES).reshape(-1, _MOST_BYTES)
        for place in range(min(int(sizes.max(initial=0)), _MOST_BYTES)):
            rows = np.flatnonzero(sizes > place)
            octets[rows, place] = data[bounds[1:][rows] - 1 - place]
        wide = pa.decimal128(38, scale)
        numbers = pa.Array.from_buffers(wide, len(values), [None, pa.py_buffer(octets.tobytes())])
        if values.null_count:
            numbers = pc.if_else(values.is_valid(), numbers, pa.scalar(None, wide))
        return numbers.cast(kind)

    return converted


def within_years(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same numbers, as times or days of a type; ArrowInvalid where one is of no year from 1 to 9999."""
    first, last = _YEARS[kind]
    extent = pc.min_max(numbers).as_py()
    if extent["min"] is not None and (extent["min"] < first or extent["max"] > last):
        raise pa.ArrowInvalid("not in the years 1 to 9999")
    return numbers

"""Times as whole numbers since the beginning of 1970 in UTC, as many producers write them in JSON."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.value_types.format_names import TimestampForm
from streamapp_runtime.formats.record_format import UndecodableError

_UNITS: Final[Mapping[TimestampForm, str]] = {
    "seconds": "s",
    "milliseconds": "ms",
    "microseconds": "us",
    "nanoseconds": "ns",
}
_A_SECOND: Final[Mapping[TimestampForm, int]] = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6}
_FIRST: Final = int(datetime(1, 1, 1, tzinfo=UTC).timestamp())
_END: Final = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()) + 1


def times_of_numbers(
    numbers: pa.Int64Array, kind: pa.TimestampType, form: TimestampForm
) -> pa.TimestampArray:
    """The times; UndecodableError for one outside the years 1 to 9999, mostly a number of another unit."""
    if form == "nanoseconds":  # each of 64 bits is a time
        return numbers.cast(pa.timestamp("ns")).cast(pa.timestamp(kind.unit), safe=False).view(kind)
    a_second = _A_SECOND[form]
    outside = pc.or_(pc.less(numbers, _FIRST * a_second), pc.greater_equal(numbers, _END * a_second))
    wrong = numbers.filter(outside)
    if len(wrong):
        raise UndecodableError(f"{wrong[0].as_py()} {form} since 1970 are no time in the years 1 to 9999")
    return numbers.cast(pa.timestamp(_UNITS[form])).cast(pa.timestamp(kind.unit)).view(kind)


def numbered_times(columns: pa.RecordBatch, form: TimestampForm) -> pa.RecordBatch:
    """The columns with numbers for their times, cut to the unit; the names in a map stay as they are."""
    if form == "text":
        return columns
    return pa.RecordBatch.from_arrays(
        [_numbered(column, form) for column in columns.columns], names=columns.schema.names
    )


def _numbered(column: pa.Array, form: TimestampForm) -> pa.Array:
    rounded, numbers = _types(column.type, form)
    return column.cast(rounded, safe=False).cast(numbers) if numbers != column.type else column


def _types(kind: pa.DataType, form: TimestampForm) -> tuple[pa.DataType, pa.DataType]:
    """The type in which the times are of the unit, and the one in which they are numbers."""
    if pa.types.is_timestamp(kind) and kind.tz:
        return pa.timestamp(_UNITS[form], kind.tz), pa.int64()
    if pa.types.is_list(kind):
        rounded, numbers = _types(kind.value_type, form)
        return pa.list_(kind.value_field.with_type(rounded)), pa.list_(kind.value_field.with_type(numbers))
    if pa.types.is_map(kind):
        rounded, numbers = _types(kind.item_type, form)
        return pa.map_(kind.key_type, rounded), pa.map_(kind.key_type, numbers)
    if pa.types.is_struct(kind):
        inner = [(field.name, *_types(field.type, form)) for field in kind]
        return (
            pa.struct([(name, rounded) for name, rounded, _ in inner]),
            pa.struct([(name, numbers) for name, _, numbers in inner]),
        )
    return kind, kind

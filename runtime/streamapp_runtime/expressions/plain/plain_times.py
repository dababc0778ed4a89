"""Functions, casts and literals of days and moments that are read without Spark."""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from streamapp_runtime.expressions.plain.plain_operands import constant_of, operand, operands
from streamapp_runtime.expressions.plain.plain_types import (
    TIME_TYPES,
    LeftToSparkError,
    PlainValue,
    as_type,
    known,
    require,
)
from streamapp_runtime.expressions.row_value import (
    MOMENT_TYPES,
    WHOLE_TYPES,
    CountedMoment,
    RowValue,
    ShiftedMonths,
    TimeConstant,
    TimeFunction,
    reads_columns,
)
from streamapp_runtime.expressions.time_units import FRACTION_DIGITS

_PARTS_OF_DAYS: Final = {
    *("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear"),
}
_PARTS_OF_MOMENTS: Final = {"hour", "minute", "second"}
_UNITS_OF_DAYS: Final = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    "week": "week",
}
_UNITS: Final = {
    **_UNITS_OF_DAYS,
    **dict.fromkeys(("day", "dd"), "day"),
    **{name: name for name in ("hour", "minute", "second", "millisecond", "microsecond")},
}
_SAME_FUNCTIONS: Final = {"dayofmonth": "day", "to_unix_timestamp": "unix_timestamp"}
_EXTRACTED: Final = {
    **dict.fromkeys(("year", "years"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "months"), "month"),
    **dict.fromkeys(("week", "weeks"), "weekofyear"),
    **dict.fromkeys(("day", "days"), "day"),
    **dict.fromkeys(("dow", "dayofweek"), "dayofweek"),
    "doy": "dayofyear",
    **dict.fromkeys(("hour", "hours"), "hour"),
    **dict.fromkeys(("minute", "minutes"), "minute"),
}
"""By what EXTRACT names, the function that it is."""
_FORMAT_PART: Final = re.compile(r"(?P<field>([A-Za-z])\2*)|[-/:. ,_]+")
_FORMAT_FIELDS: Final = {"yyyy", "yy", "MM", "M", "dd", "d", "HH", "H", "mm", "m", "ss", "s"}
_UNIX_FORMAT: Final = "yyyy-MM-dd HH:mm:ss"
TIME_LITERALS: Final = {
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    "timestamp": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"),
}
"""By the word before them, the forms of literals that are read here."""


def time_literal(kind: str, text: str) -> PlainValue:
    """`DATE '...'` or `TIMESTAMP '...'`, written in full; a moment has no zone, and is one of UTC."""
    require(TIME_LITERALS[kind].fullmatch(text) is not None)
    try:
        if kind == "date":
            return PlainValue(TimeConstant(dt.date.fromisoformat(text)), "DATE")
        whole, _, fraction = text.partition(".")
        moment = dt.datetime.fromisoformat(whole).replace(
            microsecond=int(fraction.ljust(FRACTION_DIGITS, "0")), tzinfo=dt.UTC
        )
        return PlainValue(TimeConstant(moment), "TIMESTAMP")
    except ValueError:
        raise LeftToSparkError from None


def _time_of(of: PlainValue, *kinds: str) -> RowValue:
    require(of.type in kinds)
    return operand(of.value)


def _moment_of(of: PlainValue, *kinds: str) -> RowValue:
    """A moment of one of these types; Spark makes a TIMESTAMP of a DATE."""
    return operand(as_type(of, "TIMESTAMP")) if of.type == "DATE" else _time_of(of, *kinds)


def _whole_of(of: PlainValue) -> RowValue:
    """A whole number of days or months."""
    require(of.type in WHOLE_TYPES[:3])
    return as_type(of, "INT")


_Read = Callable[[str, Sequence[PlainValue]], PlainValue]
"""How a call is read: by its function, and what that is of."""


def _of_time(kinds: Sequence[str], result: str, time_of: Callable[..., RowValue] = _time_of) -> _Read:
    """The reader of a call that is of one time of some types, and gives a value of another."""

    def read(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
        name = _SAME_FUNCTIONS.get(function, function)
        return PlainValue(TimeFunction(name, (time_of(arguments[0], *kinds),)), result)

    return read


_PART_OF_DAY: Final = _of_time(TIME_TYPES, "INT")
_PART_OF_MOMENT: Final = _of_time(MOMENT_TYPES, "INT", _moment_of)


def _truncated_date(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    of, unit = _time_of(arguments[0], "DATE"), _unit(arguments[1], _UNITS_OF_DAYS)
    return PlainValue(TimeFunction("trunc", (of,), (unit,)), "DATE")


def _truncated_moment(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    unit, of = _unit(arguments[0], _UNITS), _moment_of(arguments[1], "TIMESTAMP")
    return PlainValue(TimeFunction("date_trunc", (of,), (unit,)), "TIMESTAMP")


def _unit(of: PlainValue, units: Mapping[str, str]) -> str:
    return known(units.get(str(constant_of(of, "STRING").value).lower()))


def _formatted(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    of, pattern = arguments
    return _text_of_moment(_moment_of(of, "TIMESTAMP"), str(constant_of(pattern, "STRING").value))


def _of_seconds(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    """Spark multiplies the seconds as Java does, and what has no place in a moment is another one."""
    of, *pattern = arguments
    require(of.type in WHOLE_TYPES)
    moment = TimeFunction("wrapped_seconds", (operand(as_type(of, "BIGINT")),))
    text = str(constant_of(pattern[0], "STRING").value) if pattern else _UNIX_FORMAT
    return _text_of_moment(moment, text)


def _text_of_moment(moment: RowValue, pattern: str) -> PlainValue:
    """A moment as a pattern of Java's writes it, where all parts of that are numbers."""
    parts, place = [], 0
    require(bool(pattern))
    while place < len(pattern):
        match = known(_FORMAT_PART.match(pattern, place))
        field, place = match["field"] or "", match.end()
        is_fraction = field.strip("S") == "" and len(field) <= FRACTION_DIGITS
        require(field in _FORMAT_FIELDS or is_fraction)
        parts.append(field or f"'{match[0]}")
    return PlainValue(TimeFunction("date_format", (moment,), tuple(parts)), "STRING")


def _part_named(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    part, of = arguments
    return extracted(str(constant_of(part, "STRING").value), of)


def extracted(part: str, of: PlainValue) -> PlainValue:
    """The part of a day or moment that EXTRACT names."""
    function = known(_EXTRACTED.get(part.lower()))
    read = _PART_OF_MOMENT if function in _PARTS_OF_MOMENTS else _PART_OF_DAY
    return read(function, (of,))


def _shifted(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    date, days = arguments
    require(date.type == "DATE")
    name = {"dateadd": "date_add"}.get(function, function)
    return PlainValue(TimeFunction(name, operands(date.value, _whole_of(days))), "DATE")


def _months_later(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    date, months = arguments
    require(date.type == "DATE" and reads_columns(date.value))
    return PlainValue(ShiftedMonths(*operands(date.value, _whole_of(months))), "DATE")


def _months_between(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    times = [_moment_of(argument, "TIMESTAMP") for argument in arguments[:2]]
    is_rounded = len(arguments) == len(times) or constant_of(arguments[2], "BOOLEAN").value is True
    digits = "eight" if is_rounded else "all"
    return PlainValue(TimeFunction("months_between", operands(*times), (digits,)), "DOUBLE")


def _days_between(_: str, arguments: Sequence[PlainValue]) -> PlainValue:
    require({argument.type for argument in arguments} == {"DATE"})
    return PlainValue(TimeFunction("datediff", operands(*(one.value for one in arguments))), "INT")


def _date_of_number(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    return PlainValue(TimeFunction(function, (operand(_whole_of(arguments[0])),)), "DATE")


def _moment_of_number(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    (of,) = arguments
    require(of.type in WHOLE_TYPES and reads_columns(of.value))
    unit = {"timestamp_seconds": "seconds", "timestamp_millis": "milliseconds"}[function]
    return PlainValue(CountedMoment(operand(as_type(of, "BIGINT")), of.type, unit), "TIMESTAMP")


def _moment_of_micros(function: str, arguments: Sequence[PlainValue]) -> PlainValue:
    (of,) = arguments
    require(of.type in WHOLE_TYPES)
    return PlainValue(TimeFunction(function, (operand(as_type(of, "BIGINT")),)), "TIMESTAMP")


TIME_CALLS: Final = (
    (_PARTS_OF_DAYS, {1}, _PART_OF_DAY),
    (_PARTS_OF_MOMENTS, {1}, _PART_OF_MOMENT),
    ({"date_part", "datepart"}, {2}, _part_named),
    ({"date_format"}, {2}, _formatted),
    ({"from_unixtime"}, {1, 2}, _of_seconds),
    ({"unix_timestamp", "to_unix_timestamp"}, {1}, _of_time(["TIMESTAMP"], "BIGINT", _moment_of)),
    ({"add_months"}, {2}, _months_later),
    ({"months_between"}, {2, 3}, _months_between),
    ({"trunc"}, {2}, _truncated_date),
    ({"date_trunc"}, {2}, _truncated_moment),
    ({"last_day"}, {1}, _of_time(["DATE"], "DATE")),
    ({"date_add", "dateadd", "date_sub"}, {2}, _shifted),
    ({"datediff", "date_diff"}, {2}, _days_between),
    ({"unix_seconds", "unix_millis", "unix_micros"}, {1}, _of_time(["TIMESTAMP"], "BIGINT")),
    ({"unix_date"}, {1}, _of_time(["DATE"], "INT")),
    ({"date_from_unix_date"}, {1}, _date_of_number),
    ({"timestamp_seconds", "timestamp_millis"}, {1}, _moment_of_number),
    ({"timestamp_micros"}, {1}, _moment_of_micros),
)

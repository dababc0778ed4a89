"""Intervals that are written in an expression, and what lies so long before or after a time."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamapp_runtime.expressions.plain.plain_expression import PlainReader
from streamapp_runtime.expressions.plain.plain_operands import operand, operands
from streamapp_runtime.expressions.plain.plain_types import TIME_TYPES, PlainValue, as_type, known, require
from streamapp_runtime.expressions.row_value import (
    MOMENT_TYPES,
    WHOLE_TYPES,
    Constant,
    RowValue,
    ShiftedMoment,
    ShiftedMonths,
    TimeFunction,
    reads_columns,
)
from streamapp_runtime.expressions.time_units import (
    DAY_MICROS,
    FRACTION_DIGITS,
    UNIT_MICROS,
    UNIT_MONTHS,
)

_MICROS: Final = {unit.upper(): micros for unit, micros in UNIT_MICROS.items()}
_MONTHS: Final = {unit.upper(): months for unit, months in UNIT_MONTHS.items() if unit != "quarter"}
"""Intervals are written in no quarters."""
_LENGTHS: Final = _MICROS | _MONTHS
"""Of each unit, as microseconds or months."""
_MOST: Final = {"microsecond": 2**60, "month": 2**30}
"""Longer intervals are Spark's, which refuses some of them."""
_NUMBER: Final = re.compile(r"([+-]?)([0-9]{1,18})(?:\.([0-9]{1,6}))?")
_SIGN: Final = r"(?P<sign>[+-]?)"
_HOUR: Final = r"(?P<HOUR>[01]?[0-9]|2[0-3])"
_MINUTE: Final = r"(?P<MINUTE>[0-5]?[0-9])"
_SECOND: Final = r"(?P<SECOND>[0-5]?[0-9])(?:\.(?P<MICROSECOND>[0-9]{1,6}))?"
_DAY: Final = r"(?P<DAY>[0-9]{1,7})"
_FROM_TO: Final = {
    ("YEAR", "MONTH"): r"(?P<YEAR>[0-9]{1,8})-(?P<MONTH>1[01]|[0-9])",
    ("DAY", "HOUR"): f"{_DAY} {_HOUR}",
    ("DAY", "MINUTE"): f"{_DAY} {_HOUR}:{_MINUTE}",
    ("DAY", "SECOND"): f"{_DAY} {_HOUR}:{_MINUTE}:{_SECOND}",
    ("HOUR", "MINUTE"): f"{_HOUR}:{_MINUTE}",
    ("HOUR", "SECOND"): f"{_HOUR}:{_MINUTE}:{_SECOND}",
    ("MINUTE", "SECOND"): f"{_MINUTE}:{_SECOND}",
}
"""How an interval from one unit to another is written."""
_ADDED_UNITS: Final = {*_LENGTHS, "QUARTER", "DAYOFYEAR"}
_COUNTED_UNITS: Final = _ADDED_UNITS - {"DAYOFYEAR", "MICROSECOND"}
"""Moments may be further apart than a number of microseconds says."""
UNIT_CALLS: Final = {
    **dict.fromkeys(("timestampadd", "dateadd", "date_add"), _ADDED_UNITS),
    **dict.fromkeys(("timestampdiff", "datediff", "date_diff", "timediff"), _COUNTED_UNITS),
}
"""Functions whose first argument is a unit where they have three."""


@dataclass(frozen=True, slots=True)
class PlainInterval:
    """So many of a `month` or `microsecond`; whether it is written in whole days or weeks."""

    count: int
    unit: str
    is_of_days: bool

    def __neg__(self) -> "PlainInterval":
        """The same, backwards."""
        return PlainInterval(-self.count, self.unit, self.is_of_days)


def plain_interval(reader: PlainReader) -> PlainInterval | None:
    """The interval that comes next; None where none does."""
    if not reader.word("interval"):
        return None
    sign = next((sign for sign in "+-" if reader.take(sign)), "")
    if reader.peek(2).text.lower() == "to":
        return _from_to(reader, sign)
    parts = [_part(reader, sign)]
    while reader.peek().kind in {"number", "text"}:
        parts.append(_part(reader, ""))
    require(not (reader.peek().text in {"+", "-"} and _unit(reader, 2)))  # to Spark a part of the interval
    return _interval([unit for _, unit in parts], sum(count for count, _ in parts))


def moved(sign: str, of: PlainValue, interval: PlainInterval) -> PlainValue:
    """A day or moment so much later or earlier. A day is a moment where hours are added to it."""
    require(of.type in TIME_TYPES and reads_columns(of.value))
    length = -interval if sign == "-" else interval
    if of.type == "DATE" and length.is_of_days:
        days = Constant(length.count // DAY_MICROS)
        return PlainValue(TimeFunction("date_add", (operand(of.value), days)), "DATE")
    if of.type == "DATE" and length.unit == "month":
        return PlainValue(ShiftedMonths(operand(of.value), Constant(length.count)), "DATE")
    made = ShiftedMoment(Constant(length.count), operand(_moment(of)), length.unit)
    return PlainValue(made, _type_of_moment(of))


def call_of_unit(function: str, unit: str, arguments: Sequence[PlainValue]) -> PlainValue:
    """The value of a function that adds, or counts, units of time."""
    require(unit.upper() in UNIT_CALLS[function])
    name = {"DAYOFYEAR": "day"}.get(unit.upper(), unit.lower())
    number, of = arguments
    if UNIT_CALLS[function] is _COUNTED_UNITS:
        moments = operands(_moment(number), _moment(of))
        return PlainValue(TimeFunction("timestampdiff", moments, (name,)), "BIGINT")
    require(number.type in WHOLE_TYPES)
    count, moment = operands(as_type(number, "BIGINT"), _moment(of))
    made = ShiftedMoment(count, moment, name, unit)
    require(reads_columns(made))
    return PlainValue(made, _type_of_moment(of))


def _moment(of: PlainValue) -> RowValue:
    require(of.type in TIME_TYPES)
    return as_type(of, _type_of_moment(of))


def _type_of_moment(of: PlainValue) -> str:
    return of.type if of.type in MOMENT_TYPES else "TIMESTAMP"


def _part(reader: PlainReader, sign: str) -> tuple[int, str]:
    """A number of a unit: how many months or microseconds that is, and the unit."""
    require(reader.peek().kind in {"number", "text"})
    own_sign, whole, fraction = known(_NUMBER.fullmatch(reader.peek().text)).groups()
    unit = known(_unit(reader, 1))
    require(not (sign and own_sign) and (fraction is None or unit == "SECOND"))
    reader.place += 2
    value = int(whole) * _LENGTHS[unit] + _fraction(fraction)
    return -value if "-" in {sign, own_sign} else value, unit


def _unit(reader: PlainReader, ahead: int) -> str | None:
    """The unit that a word is, one or many."""
    token = reader.peek(ahead)
    unit = token.text.upper().removesuffix("S")
    return unit if token.kind == "name" and unit in _LENGTHS else None


def _from_to(reader: PlainReader, sign: str) -> PlainInterval:
    text, first, last = reader.peek(), reader.peek(1).text.upper(), reader.peek(3).text.upper()
    require(text.kind == "text")
    match = known(re.fullmatch(_SIGN + known(_FROM_TO.get((first, last))), text.text))
    require(not (sign and match["sign"]))
    reader.place += 4
    digits = {unit: number for unit, number in match.groupdict().items() if unit in _LENGTHS and number}
    micros = _fraction(digits.pop("MICROSECOND", None))
    value = sum(int(number) * _LENGTHS[unit] for unit, number in digits.items()) + micros
    return _interval([first, last], -value if "-" in {sign, match["sign"]} else value)


def _fraction(digits: str | None) -> int:
    """Microseconds behind the point of a second."""
    return int((digits or "").ljust(FRACTION_DIGITS, "0"))


def _interval(units: Sequence[str], count: int) -> PlainInterval:
    unit = "month" if units[0] in _MONTHS else "microsecond"
    require(len({each in _MONTHS for each in units}) == 1 and abs(count) <= _MOST[unit])
    return PlainInterval(count, unit, set(units) <= {"DAY", "WEEK"})

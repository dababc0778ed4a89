"""Functions of days and moments, each for a whole column. The session's zone is UTC: a day has 24 hours.

NumPy counts years, months and days of the proleptic Gregorian calendar, as Java does, for all of a column.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

_DAY_MICROS: Final = 86_400_000_000
_UNIT_MICROS: Final = {
    "day": _DAY_MICROS,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_DAY_SECONDS: Final = 86_400
MOST_DAYS: Final = 2**31 - 1
"""The last day that a date has place for, counted from 1970; the first one is a day further from it."""
_EIGHT_DIGITS: Final = 1e8
_MOMENT: Final = pa.timestamp("us", "UTC")
_FIRST_YEAR: Final = 1970
_LAST_PLAIN_YEAR: Final = 9999
_FRACTION_DIGITS: Final = 6


def _numbers(times: pa.Array) -> np.ndarray:
    """Days or microseconds since 1970, or what the numbers are; something for each null."""
    width = pa.int32() if pa.types.is_date32(times.type) else pa.int64()
    return np.asarray(times.cast(width).fill_null(0)).astype(np.int64)


def _days(times: pa.Array) -> np.ndarray:
    numbers = _numbers(times)
    return numbers if pa.types.is_date32(times.type) else numbers // _DAY_MICROS


def _months(days: np.ndarray) -> np.ndarray:
    """Months since 1970."""
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def _first_days(months: np.ndarray) -> np.ndarray:
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def _weekdays(days: np.ndarray) -> np.ndarray:
    """Days since the last Monday."""
    return (days + 3) % 7


def _missing(*columns: pa.Array) -> np.ndarray:
    """Where one of the columns is null."""
    missing: np.ndarray = np.logical_or.reduce([np.asarray(column.is_null()) for column in columns])
    return missing


def _column(values: np.ndarray, kind: pa.DataType, *of: pa.Array) -> pa.Array:
    """Values as a type, null where one of the columns that they are of is."""
    width = pa.int64() if kind.bit_width == pa.int64().bit_width else pa.int32()
    return pa.array(values.astype(width.to_pandas_dtype()), width, mask=_missing(*of)).cast(kind)


def _year(days: np.ndarray) -> np.ndarray:
    return _months(days) // 12 + _FIRST_YEAR


def _month(days: np.ndarray) -> np.ndarray:
    return _months(days) % 12 + 1


def _day_of(unit: str, days: np.ndarray) -> np.ndarray:
    """The number of a day within its month or year."""
    since_the_first: np.ndarray = days - _truncated_days(unit, days)
    return since_the_first + 1


def _week(days: np.ndarray) -> np.ndarray:
    """The week by ISO 8601: that of the year in which its Thursday is."""
    return (_day_of("year", days - _weekdays(days) + 3) - 1) // 7 + 1


_PARTS_OF_DAYS: Final[Mapping[str, Callable[[np.ndarray], np.ndarray]]] = {
    "year": _year,
    "quarter": lambda days: _months(days) % 12 // 3 + 1,
    "month": _month,
    "day": partial(_day_of, "month"),
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekday": _weekdays,
    "dayofyear": partial(_day_of, "year"),
    "weekofyear": _week,
}


def _part_of_day(part: str, times: pa.Array) -> pa.Array:
    return _column(_PARTS_OF_DAYS[part](_days(times)), pa.int32(), times)


def _part_of_time(part: str, times: pa.Array) -> pa.Array:
    number_in_day = {"hour": 24, "minute": 60, "second": 60}[part]
    return _column(_numbers(times) // _UNIT_MICROS[part] % number_in_day, pa.int32(), times)


def _truncated_days(unit: str, days: np.ndarray) -> np.ndarray:
    """The first day of the week, month, quarter or year that a day is in."""
    if unit == "week":
        mondays: np.ndarray = days - _weekdays(days)
        return mondays
    months = _months(days)
    return _first_days(months - months % {"month": 1, "quarter": 3, "year": 12}[unit])


def _truncated_date(dates: pa.Array, unit: str) -> pa.Array:
    return _column(_truncated_days(unit, _days(dates)), dates.type, dates)


def _truncated_moment(moments: pa.Array, unit: str) -> pa.Array:
    micros = _numbers(moments)
    if unit in _UNIT_MICROS:
        return _column(micros - micros % _UNIT_MICROS[unit], moments.type, moments)
    return _column(_truncated_days(unit, _days(moments)) * _DAY_MICROS, moments.type, moments)


def _last_day(dates: pa.Array) -> pa.Array:
    return _column(_first_days(_months(_days(dates)) + 1) - 1, dates.type, dates)


def _shifted(sign: int, dates: pa.Array, days: pa.Array) -> pa.Array:
    """So many days later or earlier; what has no place in a date begins at its other end, as in Java."""
    return _column(_numbers(dates) + sign * _numbers(days), dates.type, dates, days)


def months_later(dates: pa.Array, months: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The same day of a later month, or the last one of that, and which of them have no place in a column."""
    days = _days(dates)
    target_months = _months(days) + _numbers(months)
    last_days = _first_days(target_months + 1) - 1
    shifted: np.ndarray = np.minimum(_first_days(target_months) + _day_of("month", days) - 1, last_days)
    outside = ((shifted > MOST_DAYS) | (shifted < -MOST_DAYS - 1)) & ~_missing(dates, months)
    return _column(np.where(outside, 0, shifted), dates.type, dates, months), outside


def _months_between(ends: pa.Array, starts: pa.Array, digits: str) -> pa.Array:
    """Months, and of the rest 31 days each; none of that between last days, or days of the same number."""
    days = [_days(moments) for moments in (ends, starts)]
    months = [_months(one) for one in days]
    in_month = [_day_of("month", one) for one in days]
    is_last = [one == _first_days(month + 1) - 1 for one, month in zip(days, months, strict=True)]
    seconds = [
        day * _DAY_SECONDS + _numbers(moments) % _DAY_MICROS // _UNIT_MICROS["second"]
        for day, moments in zip(in_month, (ends, starts), strict=True)
    ]
    rest = (seconds[0] - seconds[1]) / (31.0 * _DAY_SECONDS)
    is_whole = (in_month[0] == in_month[1]) | (is_last[0] & is_last[1])
    between = (months[0] - months[1]) + np.where(is_whole, 0.0, rest)
    values = between if digits == "all" else _rounded(between * _EIGHT_DIGITS) / _EIGHT_DIGITS
    return pa.array(values, pa.float64(), mask=_missing(ends, starts))


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """The nearest whole numbers; of two the larger one, as Java rounds."""
    whole: np.ndarray = np.floor(numbers)
    rounded: np.ndarray = whole + (numbers - whole >= 0.5)
    return rounded


def _days_between(end: pa.Array, start: pa.Array) -> pa.Array:
    return _column(_numbers(end) - _numbers(start), pa.int32(), end, start)


def _units_since_1970(micros: int, moments: pa.Array) -> pa.Array:
    return _column(_numbers(moments) // micros, pa.int64(), moments)


def _seconds_towards_1970(moments: pa.Array) -> pa.Array:
    """Whole seconds since 1970, of which `unix_timestamp` gives the one that is nearer to it."""
    micros = _numbers(moments)
    seconds, rest = np.divmod(micros, _UNIT_MICROS["second"])
    return _column(seconds + ((micros < 0) & (rest > 0)), pa.int64(), moments)


def moments_of(numbers: pa.Array, unit: str) -> tuple[pa.Array, np.ndarray]:
    """Moments so many `days`, `seconds` or `milliseconds` after 1970, and which have no place in a column."""
    units, micros = _numbers(numbers), _UNIT_MICROS[unit.removesuffix("s")]
    most = (2**63 - 1) // micros
    outside = (units > most) | (units < -most)
    return _column(np.where(outside, 0, units) * micros, _MOMENT, numbers), outside


def _year_text(year: int) -> str:
    """Four digits, with a sign before those that are more, or less than none."""
    sign = "-" if year < 0 else "+" if year > _LAST_PLAIN_YEAR else ""
    return f"{sign}{abs(year):04d}"


def _date_text(year: int, month: int, day: int) -> str:
    return f"{_year_text(year)}-{month:02d}-{day:02d}"


def _time_text(micros: int) -> str:
    """The time of a day."""
    seconds, fraction = divmod(micros, _UNIT_MICROS["second"])
    minutes, second = divmod(seconds, 60)
    fraction_text = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}{fraction_text}"


def _formatted(moments: pa.Array, *parts: str) -> pa.Array:
    """Moments as the fields of a pattern; what begins with a quote is text between them."""
    days, micros = _days(moments), _numbers(moments) % _DAY_MICROS
    form, columns = "", []
    for part in parts:
        if part.startswith("'"):
            form += part[1:]
            continue
        form += "%s" if part == "yyyy" else f"%0{len(part)}d"
        columns.append(_FIELDS[part[0]](days, micros, len(part)))
    rows = zip(*columns, strict=True) if columns else [()] * len(moments)
    return pa.array([form % row for row in rows], pa.string(), mask=np.asarray(moments.is_null()))


def _field_of_year(days: np.ndarray, _: np.ndarray, width: int) -> list[str] | list[int]:
    years = _year(days)
    two_digits: list[int] = (abs(years) % 100).tolist()
    return two_digits if width == 2 else list(map(_year_text, years.tolist()))


def _field_of_day(part: str, days: np.ndarray, _: np.ndarray, __: int) -> list[int]:
    numbers: list[int] = _PARTS_OF_DAYS[part](days).tolist()
    return numbers


def _field_of_time(unit: str, in_day: int, _: np.ndarray, micros: np.ndarray, __: int) -> list[int]:
    numbers: list[int] = (micros // _UNIT_MICROS[unit] % in_day).tolist()
    return numbers


def _fraction(_: np.ndarray, micros: np.ndarray, width: int) -> list[int]:
    digits: list[int] = (micros % _UNIT_MICROS["second"] // 10 ** (_FRACTION_DIGITS - width)).tolist()
    return digits


_FIELDS: Final[Mapping[str, Callable[[np.ndarray, np.ndarray, int], list[Any]]]] = {
    "y": _field_of_year,
    "M": partial(_field_of_day, "month"),
    "d": partial(_field_of_day, "day"),
    "H": partial(_field_of_time, "hour", 24),
    "m": partial(_field_of_time, "minute", 60),
    "s": partial(_field_of_time, "second", 60),
    "S": _fraction,
}
"""By the letter that a pattern has for it, a field of moments, by their days and the time within them."""


def _texts_of(times: pa.Array) -> pa.Array:
    """Days and moments as a cast to STRING writes them."""
    days = _days(times)
    parts = (_PARTS_OF_DAYS[part](days).tolist() for part in ("year", "month", "day"))
    texts = [_date_text(*date) for date in zip(*parts, strict=True)]
    if not pa.types.is_date32(times.type):
        clock = (_numbers(times) % _DAY_MICROS).tolist()
        texts = [f"{date} {_time_text(micros)}" for date, micros in zip(texts, clock, strict=True)]
    return pa.array(texts, pa.string(), mask=np.asarray(times.is_null()))


def cast_time(times: pa.Array, kind: pa.DataType) -> pa.Array:
    """Days or moments as text, moments as the days that they are on or as whole seconds since 1970."""
    if pa.types.is_string(kind):
        return _texts_of(times)
    if pa.types.is_date32(kind):
        return _column(_days(times), kind, times)
    if pa.types.is_int64(kind):
        return _units_since_1970(_UNIT_MICROS["second"], times)
    return times.cast(pa.int64()).cast(kind)  # another kind of moment, which UTC makes the same


TIME_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{part: partial(_part_of_day, part) for part in _PARTS_OF_DAYS},
    **{part: partial(_part_of_time, part) for part in ("hour", "minute", "second")},
    "trunc": _truncated_date,
    "date_trunc": _truncated_moment,
    "date_format": _formatted,
    "wrapped_seconds": lambda numbers: _column(_numbers(numbers) * _UNIT_MICROS["second"], _MOMENT, numbers),
    "last_day": _last_day,
    "date_add": partial(_shifted, 1),
    "date_sub": partial(_shifted, -1),
    "datediff": _days_between,
    "months_between": _months_between,
    "unix_seconds": partial(_units_since_1970, _UNIT_MICROS["second"]),
    "unix_timestamp": _seconds_towards_1970,
    "unix_millis": partial(_units_since_1970, _UNIT_MICROS["millisecond"]),
    "unix_micros": partial(_units_since_1970, 1),
    "timestamp_micros": lambda numbers: numbers.cast(pa.int64()).cast(_MOMENT),
    "unix_date": lambda dates: dates.cast(pa.int32()),
    "date_from_unix_date": lambda days: days.cast(pa.date32()),
}

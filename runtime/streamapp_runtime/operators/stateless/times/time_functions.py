"""Functions of days and moments, each for a whole column. The session's zone is UTC: a day has 24 hours.

NumPy counts years, months and days of the proleptic Gregorian calendar, as Java does, for all of a column.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from streamapp_runtime.expressions.time_units import CLOCK_MICROS, DAY_MICROS, DAY_SECONDS, FRACTION_DIGITS
from streamapp_runtime.operators.stateless.times.time_columns import (
    MOMENT,
    column_of,
    day_within,
    days_of,
    first_days_of,
    missing_in,
    months_of,
    numbers_of,
    truncated_days,
    weekdays_of,
)
from streamapp_runtime.operators.stateless.times.time_shifts import units_between

_EIGHT_DIGITS: Final = 1e8
_FIRST_YEAR: Final = 1970
_LAST_PLAIN_YEAR: Final = 9999


def _year(days: np.ndarray) -> np.ndarray:
    return months_of(days) // 12 + _FIRST_YEAR


def _month(days: np.ndarray) -> np.ndarray:
    return months_of(days) % 12 + 1


def _week(days: np.ndarray) -> np.ndarray:
    """The week by ISO 8601: that of the year in which its Thursday is."""
    return (day_within("year", days - weekdays_of(days) + 3) - 1) // 7 + 1


_PARTS_OF_DAYS: Final[Mapping[str, Callable[[np.ndarray], np.ndarray]]] = {
    "year": _year,
    "quarter": lambda days: months_of(days) % 12 // 3 + 1,
    "month": _month,
    "day": partial(day_within, "month"),
    "dayofweek": lambda days: (days + 4) % 7 + 1,
    "weekday": weekdays_of,
    "dayofyear": partial(day_within, "year"),
    "weekofyear": _week,
}


def _part_of_day(part: str, times: pa.Array) -> pa.Array:
    return column_of(_PARTS_OF_DAYS[part](days_of(times)), pa.int32(), times)


def _part_of_time(part: str, times: pa.Array) -> pa.Array:
    number_in_day = {"hour": 24, "minute": 60, "second": 60}[part]
    return column_of(numbers_of(times) // CLOCK_MICROS[part] % number_in_day, pa.int32(), times)


def _truncated_date(dates: pa.Array, unit: str) -> pa.Array:
    return column_of(truncated_days(unit, days_of(dates)), dates.type, dates)


def _truncated_moment(moments: pa.Array, unit: str) -> pa.Array:
    micros = numbers_of(moments)
    if unit in CLOCK_MICROS:
        return column_of(micros - micros % CLOCK_MICROS[unit], moments.type, moments)
    return column_of(truncated_days(unit, days_of(moments)) * DAY_MICROS, moments.type, moments)


def _last_day(dates: pa.Array) -> pa.Array:
    return column_of(first_days_of(months_of(days_of(dates)) + 1) - 1, dates.type, dates)


def _shifted(sign: int, dates: pa.Array, days: pa.Array) -> pa.Array:
    """So many days later or earlier; what has no place in a date begins at its other end, as in Java."""
    return column_of(numbers_of(dates) + sign * numbers_of(days), dates.type, dates, days)


def _months_between(ends: pa.Array, starts: pa.Array, digits: str) -> pa.Array:
    """Months, and of the rest 31 days each; none of that between last days, or days of the same number."""
    days = [days_of(moments) for moments in (ends, starts)]
    months = [months_of(one) for one in days]
    in_month = [day_within("month", one) for one in days]
    is_last = [one == first_days_of(month + 1) - 1 for one, month in zip(days, months, strict=True)]
    seconds = [
        day * DAY_SECONDS + numbers_of(moments) % DAY_MICROS // CLOCK_MICROS["second"]
        for day, moments in zip(in_month, (ends, starts), strict=True)
    ]
    rest = (seconds[0] - seconds[1]) / (31.0 * DAY_SECONDS)
    is_whole = (in_month[0] == in_month[1]) | (is_last[0] & is_last[1])
    between = (months[0] - months[1]) + np.where(is_whole, 0.0, rest)
    values = between if digits == "all" else _rounded(between * _EIGHT_DIGITS) / _EIGHT_DIGITS
    return pa.array(values, pa.float64(), mask=missing_in(ends, starts))


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """The nearest whole numbers; of two the larger one, as Java rounds."""
    whole: np.ndarray = np.floor(numbers)
    rounded: np.ndarray = whole + (numbers - whole >= 0.5)
    return rounded


def _days_between(end: pa.Array, start: pa.Array) -> pa.Array:
    return column_of(numbers_of(end) - numbers_of(start), pa.int32(), end, start)


def _units_since_1970(micros: int, moments: pa.Array) -> pa.Array:
    return column_of(numbers_of(moments) // micros, pa.int64(), moments)


def _seconds_towards_1970(moments: pa.Array) -> pa.Array:
    """Whole seconds since 1970, of which `unix_timestamp` gives the one that is nearer to it."""
    micros = numbers_of(moments)
    seconds, rest = np.divmod(micros, CLOCK_MICROS["second"])
    return column_of(seconds + ((micros < 0) & (rest > 0)), pa.int64(), moments)


def _wrapped_seconds(numbers: pa.Array) -> pa.Array:
    return column_of(numbers_of(numbers) * CLOCK_MICROS["second"], MOMENT, numbers)


def _year_text(year: int) -> str:
    """Four digits, with a sign before those that are more, or less than none."""
    sign = "-" if year < 0 else "+" if year > _LAST_PLAIN_YEAR else ""
    return f"{sign}{abs(year):04d}"


def _date_text(year: int, month: int, day: int) -> str:
    return f"{_year_text(year)}-{month:02d}-{day:02d}"


def _time_text(micros: int) -> str:
    """The time of a day."""
    seconds, fraction = divmod(micros, CLOCK_MICROS["second"])
    minutes, second = divmod(seconds, 60)
    fraction_text = f".{fraction:06d}".rstrip("0") if fraction else ""
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}{fraction_text}"


def _formatted(moments: pa.Array, *parts: str) -> pa.Array:
    """Moments as the fields of a pattern; what begins with a quote is text between them."""
    days, micros = days_of(moments), numbers_of(moments) % DAY_MICROS
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
    numbers: list[int] = (micros // CLOCK_MICROS[unit] % in_day).tolist()
    return numbers


def _fraction(_: np.ndarray, micros: np.ndarray, width: int) -> list[int]:
    digits: list[int] = (micros % CLOCK_MICROS["second"] // 10 ** (FRACTION_DIGITS - width)).tolist()
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
    days = days_of(times)
    parts = (_PARTS_OF_DAYS[part](days).tolist() for part in ("year", "month", "day"))
    texts = [_date_text(*date) for date in zip(*parts, strict=True)]
    if not pa.types.is_date32(times.type):
        clock = (numbers_of(times) % DAY_MICROS).tolist()
        texts = [f"{date} {_time_text(micros)}" for date, micros in zip(texts, clock, strict=True)]
    return pa.array(texts, pa.string(), mask=np.asarray(times.is_null()))


def cast_time(times: pa.Array, kind: pa.DataType) -> pa.Array:
    """Days or moments as text, moments as the days that they are on or as whole seconds since 1970."""
    if pa.types.is_string(kind):
        return _texts_of(times)
    if pa.types.is_date32(kind):
        return column_of(days_of(times), kind, times)
    if pa.types.is_int64(kind):
        return _units_since_1970(CLOCK_MICROS["second"], times)
    return times.cast(pa.int64()).cast(kind)  # another kind of moment, which UTC makes the same


TIME_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **{part: partial(_part_of_day, part) for part in _PARTS_OF_DAYS},
    **{part: partial(_part_of_time, part) for part in ("hour", "minute", "second")},
    "trunc": _truncated_date,
    "date_trunc": _truncated_moment,
    "date_format": _formatted,
    "wrapped_seconds": _wrapped_seconds,
    "last_day": _last_day,
    "date_add": partial(_shifted, 1),
    "date_sub": partial(_shifted, -1),
    "datediff": _days_between,
    "months_between": _months_between,
    "timestampdiff": units_between,
    "unix_seconds": partial(_units_since_1970, CLOCK_MICROS["second"]),
    "unix_timestamp": _seconds_towards_1970,
    "unix_millis": partial(_units_since_1970, CLOCK_MICROS["millisecond"]),
    "unix_micros": partial(_units_since_1970, 1),
    "timestamp_micros": lambda numbers: numbers.cast(pa.int64()).cast(MOMENT),
    "unix_date": lambda dates: dates.cast(pa.int32()),
    "date_from_unix_date": lambda days: days.cast(pa.int32()).cast(pa.date32()),
}

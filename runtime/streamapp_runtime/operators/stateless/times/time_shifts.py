"""Days and moments some time later, and the time between them."""

from typing import Final

import numpy as np
import pyarrow as pa

from streamapp_runtime.expressions.time_units import DAY_MICROS, UNIT_MICROS, UNIT_MONTHS
from streamapp_runtime.operators.stateless.times.time_columns import (
    MOMENT,
    MOST_DAYS,
    column_of,
    day_within,
    days_of,
    first_days_of,
    missing_in,
    months_of,
    numbers_of,
)

_MOST_MONTHS: Final = 2**31 - 1
_MOST_MICROS: Final = 2**63 - 1
_DAYS_OF_PACKED_MONTH: Final = 32
"""More than any month has."""


def moments_of(numbers: pa.Array, unit: str) -> tuple[pa.Array, np.ndarray]:
    """Moments so many `days`, `seconds` or `milliseconds` after 1970, and which have no place in a column."""
    units, micros = numbers_of(numbers), UNIT_MICROS[unit.removesuffix("s")]
    most = _MOST_MICROS // micros
    outside = (units > most) | (units < -most)
    return column_of(np.where(outside, 0, units) * micros, MOMENT, numbers), outside


def months_later(dates: pa.Array, months: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The same day of a later month, or the last one of that, and which of them have no place in a column."""
    shifted = _days_later(days_of(dates), numbers_of(months))
    outside = ((shifted > MOST_DAYS) | (shifted < -MOST_DAYS - 1)) & ~missing_in(dates, months)
    return column_of(np.where(outside, 0, shifted), dates.type, dates, months), outside


def moments_later(moments: pa.Array, counts: pa.Array, unit: str) -> tuple[pa.Array, np.ndarray]:
    """Moments so many of a unit later, and which of them have no place in a column, nor has what is added."""
    later = _months_after if unit in UNIT_MONTHS else _micros_after
    shifted, has_place = later(numbers_of(moments), numbers_of(counts), unit)
    outside = ~has_place & ~missing_in(moments, counts)
    return column_of(shifted, moments.type, moments, counts), outside


def units_between(starts: pa.Array, ends: pa.Array, unit: str) -> pa.Array:
    """Whole units from one moment to another, without the rest."""
    count = _months_between if unit in UNIT_MONTHS else _micros_between
    return column_of(count(numbers_of(starts), numbers_of(ends), unit), pa.int64(), starts, ends)


def _days_later(days: np.ndarray, months: np.ndarray) -> np.ndarray:
    target_months = months_of(days) + months
    last_days = first_days_of(target_months + 1) - 1
    shifted: np.ndarray = np.minimum(first_days_of(target_months) + day_within("month", days) - 1, last_days)
    return shifted


def _micros_after(micros: np.ndarray, counts: np.ndarray, unit: str) -> tuple[np.ndarray, np.ndarray]:
    micros_of_unit = UNIT_MICROS[unit]
    most = _MOST_MICROS // micros_of_unit
    has_place = (counts <= most) & (counts >= (-most if micros_of_unit > 1 else -most - 1))
    added = np.where(has_place, counts, 0) * micros_of_unit
    shifted = micros + added  # beyond its bounds it begins at the other one
    is_beyond = ((micros >= 0) == (added >= 0)) & ((shifted >= 0) != (micros >= 0))
    return shifted, has_place & ~is_beyond


def _months_after(micros: np.ndarray, counts: np.ndarray, unit: str) -> tuple[np.ndarray, np.ndarray]:
    is_int = (counts <= _MOST_MONTHS) & (counts >= -_MOST_MONTHS - 1)
    months = np.where(is_int, counts, 0) * UNIT_MONTHS[unit]
    has_place = is_int & (months <= _MOST_MONTHS) & (months >= -_MOST_MONTHS - 1)
    days = _days_later(micros // DAY_MICROS, np.where(has_place, months, 0))
    shifted = days * DAY_MICROS + micros % DAY_MICROS
    return shifted, has_place & (shifted // DAY_MICROS == days)


def _micros_between(starts: np.ndarray, ends: np.ndarray, unit: str) -> np.ndarray:
    micros_of_unit = UNIT_MICROS[unit]
    units = ends // micros_of_unit - starts // micros_of_unit
    rest = ends % micros_of_unit - starts % micros_of_unit
    whole: np.ndarray = units - ((units > 0) & (rest < 0)) + ((units < 0) & (rest > 0))
    return whole


def _months_between(starts: np.ndarray, ends: np.ndarray, unit: str) -> np.ndarray:
    """A day that is not over at the time of the other one does not count."""
    first, last = starts // DAY_MICROS, ends // DAY_MICROS
    rest = ends % DAY_MICROS - starts % DAY_MICROS
    last = last - ((last > first) & (rest < 0)) + ((last < first) & (rest > 0))
    packed = [months_of(days) * _DAYS_OF_PACKED_MONTH + day_within("month", days) for days in (first, last)]
    return _towards_zero(packed[1] - packed[0], _DAYS_OF_PACKED_MONTH * UNIT_MONTHS[unit])


def _towards_zero(numbers: np.ndarray, divisor: int) -> np.ndarray:
    quotients: np.ndarray = np.sign(numbers) * (np.abs(numbers) // divisor)
    return quotients

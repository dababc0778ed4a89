"""Columns of days and moments as numbers, and back. NumPy counts the calendar, as Java does.

The session's zone is UTC: a day has 24 hours.
"""

from typing import Final

import numpy as np
import pyarrow as pa

from streamapp_runtime.expressions.time_units import DAY_MICROS, UNIT_MONTHS

MOST_DAYS: Final = 2**31 - 1
"""The last day that a date has place for, counted from 1970; the first one is a day further from it."""
MOMENT: Final = pa.timestamp("us", "UTC")


def numbers_of(times: pa.Array) -> np.ndarray:
    """Days or microseconds since 1970, or what the numbers are; something for each null."""
    width = pa.int32() if pa.types.is_date32(times.type) else pa.int64()
    return np.asarray(times.cast(width).fill_null(0)).astype(np.int64)


def days_of(times: pa.Array) -> np.ndarray:
    """Days since 1970, of days or moments."""
    numbers = numbers_of(times)
    return numbers if pa.types.is_date32(times.type) else numbers // DAY_MICROS


def months_of(days: np.ndarray) -> np.ndarray:
    """Months since 1970."""
    return days.astype("M8[D]").astype("M8[M]").astype(np.int64)


def first_days_of(months: np.ndarray) -> np.ndarray:
    """The first day of each month since 1970."""
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64)


def missing_in(*columns: pa.Array) -> np.ndarray:
    """True for each row in which one of the columns is null."""
    missing: np.ndarray = np.logical_or.reduce([np.asarray(column.is_null()) for column in columns])
    return missing


def column_of(values: np.ndarray, kind: pa.DataType, *of: pa.Array) -> pa.Array:
    """Values as a type, null where one of the columns that they are of is."""
    width = pa.int64() if kind.bit_width == pa.int64().bit_width else pa.int32()
    return pa.array(values.astype(width.to_pandas_dtype()), width, mask=missing_in(*of)).cast(kind)


def weekdays_of(days: np.ndarray) -> np.ndarray:
    """Days since the last Monday."""
    return (days + 3) % 7


def day_within(unit: str, days: np.ndarray) -> np.ndarray:
    """The number of a day within its month or year."""
    since_the_first: np.ndarray = days - truncated_days(unit, days)
    return since_the_first + 1


def truncated_days(unit: str, days: np.ndarray) -> np.ndarray:
    """The first day of the week, month, quarter or year that a day is in."""
    if unit == "week":
        mondays: np.ndarray = days - weekdays_of(days)
        return mondays
    months = months_of(days)
    return first_days_of(months - months % UNIT_MONTHS[unit])

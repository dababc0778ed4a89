"""Units of time, and how long each of them is. The session's zone is UTC: a day has 24 hours."""

from typing import Final

DAY_SECONDS: Final = 86_400
DAY_MICROS: Final = DAY_SECONDS * 1_000_000
CLOCK_MICROS: Final = {
    "day": DAY_MICROS,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
"""Units that begin where one of them began at the start of 1970."""
UNIT_MICROS: Final = CLOCK_MICROS | {"week": 7 * DAY_MICROS}
UNIT_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
FRACTION_DIGITS: Final = 6
"""Of a second, as many as a moment has."""

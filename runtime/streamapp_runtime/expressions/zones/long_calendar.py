"""Days of all years that a column of times can hold. Python's own dates have the years from 1 to 9999."""

import datetime as dt
from typing import Final

_CYCLE_YEARS: Final = 400
_CYCLE_DAYS: Final = 146_097
"""The calendar begins again after so many."""
_FIRST_DAY: Final = dt.date(1970, 1, 1).toordinal()


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970; ValueError where there is no such day."""
    cycles, year_of_cycle = divmod(year, _CYCLE_YEARS)
    same_day = dt.date(_CYCLE_YEARS + year_of_cycle, month, day)
    return same_day.toordinal() - _FIRST_DAY + (cycles - 1) * _CYCLE_DAYS


def year_of(day: int) -> int:
    """The year of a day, which is counted since 1970."""
    cycles, day_of_cycle = divmod(day, _CYCLE_DAYS)
    return dt.date.fromordinal(_FIRST_DAY + day_of_cycle).year + cycles * _CYCLE_YEARS


def last_day_of(year: int, month: int) -> int:
    """The last day of a month."""
    return day_number(year + month // 12, month % 12 + 1, 1) - 1

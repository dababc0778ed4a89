"""The offsets of one zone, in the past and by the rules of its last years, as Java computes them."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp_runtime.expressions.time_units import DAY_SECONDS
from streamapp_runtime.expressions.zones.long_calendar import day_number, last_day_of, year_of

_THURSDAY: Final = 3
"""The day of the week that was first in 1970, from Monday on."""


@dataclass(frozen=True, slots=True)
class Transition:
    """When an offset is followed by another one; all in seconds."""

    instant: int
    before: int
    after: int

    @property
    def local(self) -> int:
        """The first time on the clock that has the new offset only."""
        return self.instant + max(self.before, self.after)


@dataclass(frozen=True, slots=True)
class YearlyRule:
    """A transition that comes each year.

    The day is one of a month, counted from its end where it is below 0, or the first such day of the week
    from it on, or back from it. The time of the day is on a clock that is `clock_offset` ahead of UTC.
    """

    month: int
    day: int
    weekday: int | None
    second: int
    clock_offset: int
    before: int
    after: int

    def in_year(self, year: int) -> Transition:
        """The transition of a year."""
        if self.day < 0:
            day = last_day_of(year, self.month) + 1 + self.day
            day -= 0 if self.weekday is None else (_weekday(day) - self.weekday) % 7
        else:
            day = day_number(year, self.month, self.day)
            day += 0 if self.weekday is None else (self.weekday - _weekday(day)) % 7
        return Transition(day * DAY_SECONDS + self.second - self.clock_offset, self.before, self.after)


@dataclass(frozen=True, slots=True)
class ZoneRules:
    """All transitions of a zone, and the rules for the years behind them."""

    first_offset: int
    transitions: Sequence[Transition]
    rules: Sequence[YearlyRule]

    def offset_of_local(self, second: int) -> int:
        """The offset at a time on the clock; the earlier one where it has that time twice or not at all."""
        return self._offset(second, second, lambda each: each.local)

    def offset_at(self, instant: int) -> int:
        """The offset at so many seconds since 1970."""
        local = instant + self._after(len(self.transitions))
        return self._offset(instant, local, lambda each: each.instant)

    def _offset(self, second: int, local: int, second_of: Callable[[Transition], int]) -> int:
        """The offset before the first transition that is later; rules are asked for the year of `local`."""
        passed = bisect_right(self.transitions, second, key=second_of)
        if passed == len(self.transitions) and passed and self.rules:
            of_year = self._of_year(local)
            return next((each.before for each in of_year if second < second_of(each)), of_year[-1].after)
        return self._after(passed)

    def _after(self, passed: int) -> int:
        return self.transitions[passed - 1].after if passed else self.first_offset

    def _of_year(self, second: int) -> Sequence[Transition]:
        year = year_of(second // DAY_SECONDS)
        return [rule.in_year(year) for rule in self.rules]


def _weekday(day: int) -> int:
    """0 for Monday."""
    return (day + _THURSDAY) % 7

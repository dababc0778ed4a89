"""Figures as short texts of a column; what is not known is a dash."""

from typing import Final

UNKNOWN: Final = "-"
_SHORT: Final = 10_000
_THOUSANDS: Final = ("", "k", "M", "G", "T")
_BYTES: Final = ("B", "kB", "MB", "GB", "TB")
_DAY: Final = 86_400


def count_text(number: float | None) -> str:
    """A count of at most six characters: whole up to 9999, then `12.3k`."""
    if number is None:
        return UNKNOWN
    return f"{number:.0f}" if round(number) < _SHORT else "".join(_scaled(number, _THOUSANDS))


def rate_text(number: float | None) -> str:
    """Rows a second: with a decimal below ten, so that a slow stream does not look idle."""
    if number is not None and 0 < number < 9.95:
        return "<0.1" if number < 0.05 else f"{number:.1f}"
    return count_text(number)


def size_text(size: int | None) -> str:
    """So many bytes."""
    return UNKNOWN if size is None else " ".join(_scaled(size, _BYTES))


def duration_text(seconds: float | None) -> str:
    """A length of time by its two largest units, as kubectl prints ages."""
    if seconds is None:
        return UNKNOWN
    whole = max(0, round(seconds))
    if whole < 120:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m{whole % 60:02}s" if whole < 600 else f"{whole // 60}m"
    if whole < 2 * _DAY:
        return f"{whole // 3_600}h{whole % 3_600 // 60:02}m" if whole < 36_000 else f"{whole // 3_600}h"
    return f"{whole // _DAY}d"


def _scaled(number: float, units: tuple[str, ...]) -> tuple[str, str]:
    """The number in the unit that leaves at most three digits before the point, and the unit."""
    place = 0
    while number >= 999.5 and place < len(units) - 1:
        number, place = number / 1000, place + 1
    return f"{number:.{int(place > 0 and number < 99.95)}f}", units[place]

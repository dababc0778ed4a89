"""Texts as days and moments, by the grammar of Spark's own reader."""

import datetime as dt
import re
from typing import Final

from streamapp_runtime.expressions.time_units import CLOCK_MICROS, DAY_SECONDS, FRACTION_DIGITS
from streamapp_runtime.expressions.zones.java_zones import Zone, zone_named
from streamapp_runtime.expressions.zones.long_calendar import day_number
from streamapp_runtime.operators.stateless.times.time_columns import MOST_DAYS

JAVA_BLANKS: Final = "".join(map(chr, range(0x21)))
"""What Java leaves out at both ends of a text."""
BLANKS: Final = JAVA_BLANKS + "\x7f"
"""What Spark leaves out."""
_DATE: Final = re.compile(r"([+-]?[0-9]{4,7})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T].*)?)?)?", re.DOTALL)
"""What is behind a whole day is not read."""
_CLOCK: Final = (
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{1,2})"
    r"(?::(?P<second>[0-9]{1,2})(?:\.(?P<fraction>[0-9]*))?(?P<zone>[^0-9].*)?)?)?"
)
_MOMENT: Final = re.compile(
    rf"(?P<year>[+-]?[0-9]{{4,6}})(?:-(?P<month>[0-9]{{1,2}})(?:-(?P<day>[0-9]{{1,2}})(?:[ T]{_CLOCK})?)?)?",
    re.DOTALL,
)
_TIME_OF_TODAY: Final = re.compile(rf"(?:T|(?=[0-9]+:)){_CLOCK}", re.DOTALL)
_DAY_HOURS: Final = 24
_HOUR_MINUTES: Final = 60
_UTC: Final = 0
"""The zone of the session."""
_LIMIT: Final = 2**63


def read_date(text: str) -> int | None:
    """Days since 1970; None where a text is no day. A month or day that is left out is the first."""
    match = _DATE.fullmatch(text.strip(BLANKS))
    days = match and _day(match[1], match[2], match[3])
    return days if days is not None and -MOST_DAYS - 1 <= days <= MOST_DAYS else None


def read_moment(text: str) -> int | None:
    """Microseconds since 1970; None where a text is no moment. A time without a day is one of today."""
    bare = text.strip(BLANKS)
    if match := _MOMENT.fullmatch(bare):
        return _micros(match, _day(match["year"], match["month"], match["day"]), _zone(match))
    match = _TIME_OF_TODAY.fullmatch(bare)
    if match is None or (bare.startswith("T") and not text.startswith("T")):
        return None
    zone = _zone(match)
    return _micros(match, None if zone is None else _today(zone), zone)


def read_local_moment(text: str) -> int | None:
    """Microseconds since 1970 on the clock of a zone, whichever that is."""
    match = _MOMENT.fullmatch(text.strip(BLANKS))
    if match is None or _zone(match) is None:
        return None
    return _micros(match, _day(match["year"], match["month"], match["day"]), 0)


def _day(year: str, month: str | None, day: str | None) -> int | None:
    try:
        return day_number(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None


def _zone(match: re.Match[str]) -> Zone | None:
    name = match["zone"]
    return _UTC if name is None else zone_named(name.strip(JAVA_BLANKS))


def _today(zone: Zone) -> int:
    now = int(dt.datetime.now(dt.UTC).timestamp())
    return (now + (zone if isinstance(zone, int) else zone.offset_at(now))) // DAY_SECONDS


def _micros(match: re.Match[str], day: int | None, zone: Zone | None) -> int | None:
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if day is None or zone is None or hour >= _DAY_HOURS or max(minute, second) >= _HOUR_MINUTES:
        return None
    local = day * DAY_SECONDS + (hour * _HOUR_MINUTES + minute) * _HOUR_MINUTES + second
    offset = zone if isinstance(zone, int) else zone.offset_of_local(local)
    fraction = int((match["fraction"] or "")[:FRACTION_DIGITS].ljust(FRACTION_DIGITS, "0"))
    micros = (local - offset) * CLOCK_MICROS["second"] + fraction
    return micros if -_LIMIT <= micros < _LIMIT else None

"""Durations as texts: `500ms`, `5s`, `1h30m`, `7d`."""

import re

UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
PATTERN = r"^([0-9]{1,9}(ms|s|m|h|d))+$"

_part = re.compile(r"([0-9]+)(ms|s|m|h|d)")


def milliseconds(duration: str) -> int:
    """The duration in milliseconds; a text that is no duration is a ValueError."""
    if not re.fullmatch(PATTERN, duration):
        raise ValueError(f'"{duration}" is no duration; write it like 500ms, 5s, 10m, 1h30m or 7d')
    return sum(int(number) * UNITS[unit] for number, unit in _part.findall(duration))

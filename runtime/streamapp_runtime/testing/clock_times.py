"""Times as tests write them: text, a datetime, or milliseconds."""

from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.testing.kit_errors import WrongUseError

TestTime: TypeAlias = str | datetime | int
"""`2026-01-01T12:00`, a datetime (UTC where it names no zone), or milliseconds since 1970 began."""
START: Final = "2026-01-01T00:00:00"
"""When a test begins, where it says nothing else."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def to_milliseconds(time: TestTime) -> int:
    """Milliseconds since 1970 began."""
    if isinstance(time, int):
        return time
    return (as_datetime(time) - _EPOCH) // timedelta(milliseconds=1)


def as_datetime(time: str | datetime) -> datetime:
    """A time with its zone; WrongUseError where a text is none."""
    try:
        moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    except ValueError:
        raise WrongUseError(f'"{time}" is no time; write it as 2026-01-31T12:00:00') from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def from_milliseconds(time: int) -> datetime:
    """The same as a datetime."""
    return _EPOCH + timedelta(milliseconds=time)


def duration(text: str | timedelta) -> int:
    """The milliseconds of a duration such as `5m`."""
    if isinstance(text, timedelta):
        return text // timedelta(milliseconds=1)
    try:
        return milliseconds(text)
    except (ValueError, KeyError):
        raise WrongUseError(f'"{text}" is no duration; write it as 500ms, 30s, 5m, 2h or 1d') from None

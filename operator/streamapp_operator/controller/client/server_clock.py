"""The API server's clock, told from the `Date` of its answers: objects have their times from it.

The clock of the operator's node may be wrong by days, and may jump. So a time that was told goes on by a
monotonic clock, and is corrected where an answer proves it wrong.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_RESOLUTION = 1.0
"""Seconds: `Date` has no fractions."""


class ServerClock:
    """The time of the API server; that of this machine until the first answer."""

    def __init__(
        self, monotonic: Callable[[], float] = time.monotonic, own_time: Callable[[], float] = time.time
    ) -> None:
        self._monotonic, self._own_time = monotonic, own_time
        self._offset: float | None = None  # of the server's time to the monotonic clock

    def begin(self) -> float:
        """The moment at which a request is sent, for `answered`."""
        return self._monotonic()

    def answered(self, date: str | None, began: float) -> None:
        """An answer came with this `Date`; one without a date, or with one that is none, says nothing."""
        server_time = _parsed(date)
        if server_time is None:
            return
        earliest = server_time - self._monotonic()  # it was made before now
        latest = server_time + _RESOLUTION - began  # and not before it was asked for
        self._offset = earliest if self._offset is None else min(max(self._offset, earliest), latest)

    def seconds(self) -> float:
        """Seconds since 1970."""
        return self._own_time() if self._offset is None else self._monotonic() + self._offset

    def now(self) -> datetime:
        """The same as a date."""
        return datetime.fromtimestamp(self.seconds(), UTC)


def _parsed(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except (ValueError, OverflowError):
        return None

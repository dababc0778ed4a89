"""Bounds on lines that others can cause: so many in an interval, and the number of the others."""

from dataclasses import dataclass
from math import inf


@dataclass(slots=True)
class LineBounds:
    """The lines about one kind of event, which strangers may cause as often as they like."""

    most: int
    seconds: float
    _since: float = -inf  # when the interval began
    _events: int = 0  # of the interval

    def admits(self, now: float) -> bool:
        """True if there is a line about an event of now."""
        if now - self._since >= self.seconds and self._events <= self.most:
            self._since, self._events = now, 0
        self._events += 1
        return self._events <= self.most

    def left_out(self, now: float) -> int:
        """The number of events without a line, once their interval has passed; counted once."""
        if now - self._since < self.seconds or self._events <= self.most:
            return 0
        number = self._events - self.most
        self._since, self._events = -inf, 0
        return number

"""A bound on how many keys are asked for in a second."""

from collections.abc import Callable


class RateLimit:
    """Keys flow into a bucket that holds what may be asked for in one second."""

    def __init__(self, limit: int, clock: Callable[[], float]) -> None:
        self.limit, self._clock = limit, clock
        self._level, self._at = float(limit), clock()

    def wait_for(self, count: int) -> float:
        """Take so many keys, at most a second's worth; how long to wait before they are asked for."""
        if not self.limit:
            return 0.0
        now = self._clock()
        self._level = min(self.limit, self._level + (now - self._at) * self.limit) - count
        self._at = now
        return max(0.0, -self._level / self.limit)

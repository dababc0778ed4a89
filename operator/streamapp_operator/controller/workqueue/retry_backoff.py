"""The backoff of a key after consecutive failures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from streamapp.backoff import Backoff

KEY_BACKOFF: Final = Backoff(0.5, 300.0)
K = TypeVar("K")


def backoff_seconds(failures: int, jitter: float) -> float:
    """Seconds to wait after so many failures; `jitter` (0 to 1) spreads the retries of many keys."""
    return KEY_BACKOFF.seconds(failures) * (0.75 + 0.5 * jitter)


@dataclass(slots=True)
class RetryBackoff(Generic[K]):
    """The failures of each key since its last success."""

    jitter: Callable[[], float]
    _failures: dict[K, int] = field(default_factory=dict)

    def failed(self, key: K, at_least: float | None = None) -> float:
        """Count a failure; returns the seconds to wait."""
        self._failures[key] = self._failures.get(key, 0) + 1
        return max(backoff_seconds(self._failures[key], self.jitter()), at_least or 0.0)

    def succeeded(self, key: K) -> None:
        """Forget the failures."""
        self._failures.pop(key, None)

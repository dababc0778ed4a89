"""How long a key waits after reconciles that failed, one after another."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

FIRST_SECONDS = 0.5
MAX_SECONDS = 300.0
K = TypeVar("K")


def backoff_seconds(failures: int, chance: float) -> float:
    """Seconds to wait after so many failures; `chance` (0 to 1) keeps many keys from coming all at once."""
    return float(min(FIRST_SECONDS * 2 ** min(failures - 1, 20), MAX_SECONDS) * (0.75 + 0.5 * chance))


@dataclass(slots=True)
class RetryBackoff(Generic[K]):
    """The failures of each key since its last success."""

    chance: Callable[[], float]
    _failures: dict[K, int] = field(default_factory=dict)

    def failed(self, key: K, at_least: float | None = None) -> float:
        """Count a failure; seconds to wait."""
        self._failures[key] = self._failures.get(key, 0) + 1
        return max(backoff_seconds(self._failures[key], self.chance()), at_least or 0.0)

    def succeeded(self, key: K) -> None:
        """Forget the failures."""
        self._failures.pop(key, None)

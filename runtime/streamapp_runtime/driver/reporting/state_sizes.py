"""How much state an app has on disk, table by table, for metrics: looked up no more often than needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamapp_runtime.stores.directories.store_stats import app_store_stats

FRESH_SECONDS = 10.0
MOST_SHARE = 0.005
"""Of the time at most is spent on looking: an app with many stores is looked at less often."""


@dataclass(slots=True)
class StateSizes:
    """Entries and bytes by table."""

    root: Path
    application_id: str
    clock: Callable[[], float]
    fresh_seconds: float = FRESH_SECONDS
    _fresh_until: float | None = None
    _sizes: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Mapping[str, tuple[int, int]]:
        """As it was a few seconds ago at most, but for an app with many stores."""
        now = self.clock()
        if self._fresh_until is None or now > self._fresh_until:
            sizes: dict[str, tuple[int, int]] = {}
            for _, table, stats in app_store_stats(self.root, self.application_id):
                entries, size = sizes.get(table, (0, 0))
                sizes[table] = entries + (stats.entries or 0), size + stats.size
            took = self.clock() - now
            self._fresh_until, self._sizes = now + max(self.fresh_seconds, took / MOST_SHARE), sizes
        return self._sizes

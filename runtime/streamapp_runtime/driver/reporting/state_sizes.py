"""How much state an app has on disk, table by table, for metrics: looked up no more often than needed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamapp_runtime.stores.directories.store_stats import app_store_stats

FRESH_SECONDS = 10.0


@dataclass(slots=True)
class StateSizes:
    """Entries and bytes by table."""

    root: Path
    application_id: str
    clock: Callable[[], float]
    _looked: float | None = None
    _found: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __call__(self) -> Mapping[str, tuple[int, int]]:
        """As it was a few seconds ago at most."""
        now = self.clock()
        if self._looked is None or now - self._looked > FRESH_SECONDS:
            found: dict[str, tuple[int, int]] = {}
            for _, table, seen in app_store_stats(self.root, self.application_id):
                entries, size = found.get(table, (0, 0))
                found[table] = entries + (seen.entries or 0), size + seen.size
            self._looked, self._found = now, found
        return self._found

"""The last activity of each kind's watch, and when a comparison of the cache is due."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts


def comparison_due(now: float, last_event: float, last_comparison: float, timeouts: WatchTimeouts) -> bool:
    """True if a comparison is due: once after a silence, and periodically."""
    if now - last_comparison >= timeouts.compare_every:
        return True
    return (
        now - last_event >= timeouts.compare_after_silence
        and last_comparison < last_event + timeouts.compare_after_silence
    )


@dataclass(slots=True)
class WatchActivity:
    """The times of the last event and the last comparison, by kind."""

    clock: Callable[[], float]
    timeouts: WatchTimeouts
    _last_event: dict[ResourceKind, float] = field(default_factory=dict)
    _last_comparison: dict[ResourceKind, float] = field(default_factory=dict)

    def event_seen(self, kind: ResourceKind) -> None:
        """Record an event of a watch."""
        self._last_event[kind] = self.clock()

    def cache_compared(self, kind: ResourceKind) -> None:
        """Record a comparison of the cache with the API server."""
        self._last_comparison[kind] = self.clock()
        self._last_event.setdefault(kind, self.clock())

    def kinds_to_compare(self) -> tuple[ResourceKind, ...]:
        """The kinds whose comparison is due."""
        now = self.clock()
        return tuple(
            kind
            for kind in WATCHED_KINDS
            if comparison_due(now, self._last_event[kind], self._last_comparison[kind], self.timeouts)
        )

    def inactivity(self) -> dict[tuple[str, ...], float]:
        """Seconds since the last event or comparison of each kind."""
        now = self.clock()
        return {
            (kind.name,): now - max(self._last_event[kind], self._last_comparison[kind])
            for kind in WATCHED_KINDS
            if kind in self._last_event
        }

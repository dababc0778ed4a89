"""When each kind was last heard of, and when it is time to compare the cache with what there is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp_operator.controller.client.resource_kinds import ResourceKind
from streamapp_operator.controller.watch.object_cache import WATCHED_KINDS
from streamapp_operator.controller.watch.watch_timeouts import WatchTimeouts


def comparison_due(now: float, heard: float, compared: float, patience: WatchTimeouts) -> bool:
    """Whether to compare: after a silence once, and from time to time in any case."""
    if now - compared >= patience.every:
        return True
    return now - heard >= patience.silence and compared < heard + patience.silence


@dataclass(slots=True)
class WatchActivity:
    """What was heard when, by kind."""

    clock: Callable[[], float]
    patience: WatchTimeouts
    _heard: dict[ResourceKind, float] = field(default_factory=dict)
    _compared: dict[ResourceKind, float] = field(default_factory=dict)

    def heard(self, kind: ResourceKind) -> None:
        """A watch brought something."""
        self._heard[kind] = self.clock()

    def compared(self, kind: ResourceKind) -> None:
        """The cache is as things are."""
        self._compared[kind] = self.clock()
        self._heard.setdefault(kind, self.clock())

    def due(self) -> tuple[ResourceKind, ...]:
        """The kinds to compare now."""
        now = self.clock()
        return tuple(
            kind
            for kind in WATCHED_KINDS
            if comparison_due(now, self._heard[kind], self._compared[kind], self.patience)
        )

    def ages(self) -> dict[tuple[str, ...], float]:
        """For how long nothing was heard of each kind."""
        now = self.clock()
        return {
            (kind.name,): now - max(self._heard[kind], self._compared[kind])
            for kind in WATCHED_KINDS
            if kind in self._heard
        }

"""When each kind was last heard of, and when it is time to compare the cache with what there is."""

from collections.abc import Callable
from dataclasses import dataclass, field

from streamapp_operator.cluster.cache import WATCHED
from streamapp_operator.cluster.kinds import Kind

SILENCE = 90.0
EVERY = 300.0


def due(now: float, heard: float, compared: float) -> bool:
    """Whether to compare: after a silence once, and from time to time in any case."""
    return now - compared >= EVERY or (now - heard >= SILENCE and compared < heard + SILENCE)


@dataclass(slots=True)
class Hearing:
    """What was heard when, by kind."""

    clock: Callable[[], float]
    _heard: dict[Kind, float] = field(default_factory=dict)
    _compared: dict[Kind, float] = field(default_factory=dict)

    def heard(self, kind: Kind) -> None:
        """A watch brought something."""
        self._heard[kind] = self.clock()

    def compared(self, kind: Kind) -> None:
        """The cache is as things are."""
        self._compared[kind] = self.clock()
        self._heard.setdefault(kind, self.clock())

    def due(self) -> tuple[Kind, ...]:
        """The kinds to compare now."""
        now = self.clock()
        return tuple(kind for kind in WATCHED if due(now, self._heard[kind], self._compared[kind]))

    def ages(self) -> dict[tuple[str, ...], float]:
        """For how long nothing was heard of each kind."""
        now = self.clock()
        return {
            (kind.name,): now - max(self._heard[kind], self._compared[kind])
            for kind in WATCHED
            if kind in self._heard
        }

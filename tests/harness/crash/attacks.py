"""What is done to a besieged app, drawn from a seed: the same seed gives the same attacks in order."""

import random
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace

SIGNALS = ("worker", "worker", "worker", "executor", "executor", "daemon", "jvm", "driver", "stop")
"""Which process is killed at a random moment. `stop` asks the driver to end in the middle of a batch."""
RESET = "reset connections"
LANE_CONNECTIONS = {
    "reset lanes": socket.SHUT_RDWR,
    "lanes that get no answer": socket.SHUT_WR,
    "lanes that are not heard": socket.SHUT_RD,
}
"""How the connections between the driver and its lanes are cut: both ways, or one of them."""
OF_BROKER = ("broker", "broker", "broker", "broker", "frozen broker", "frozen broker", RESET, RESET)
"""What befalls an app on Kafka beside: its broker is killed, or holds still for a while and goes on, or the
connections to it are reset."""
FROZEN = {
    "frozen worker": ("worker", 4.0, 14.0),
    "frozen executor": ("executor", 4.0, 20.0),
    "frozen driver": ("driver", 4.0, 30.0),
    "frozen jvm": ("jvm", 4.0, 14.0),
}
"""What holds still, an executor with its workers, for how many seconds, and then goes on where it was.

An executor is silent after five seconds and replaced after twelve, so some wake up beside their successor.
"""
OF_DRIVER = frozenset({"jvm", "driver", "stop"})
POINTS = (
    "commit.before.processor-0",
    "commit.after.processor-0",
    "commit.before.processor-1",
    "commit.after.processor-1",
    "store.before-apply",
    "store.before-apply",
    "adjunct.before-apply",
    "adjunct.applied",
    "adjunct.copied",
    "driver.ordered",
    "driver.reported",
)
"""Where a process is ended by itself."""
RECOVERY_POINTS = ("store.loaded", "driver.recorded", "driver.fenced")
"""Where it is ended in the midst of recovering from the loss of another."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One kill, or two where the first one only brings the app to a point in its recovery."""

    victim: str = ""  # a kind of process, or a broker, hit at a random moment
    point: str = ""  # a crash point
    commits: int = 1  # how many records are written first
    delay: float = 0.0  # and how many seconds pass then
    pick: float = 0.0  # which of several
    processors: int = 2  # with how many it is started again, where it has to be

    def on(self, processors: int) -> "Attack":
        """The same with so many processors: what only a second one passes, the first one passes too."""
        if processors > 1:
            return self
        return replace(self, point=self.point.replace("processor-1", "processor-0"))

    def __str__(self) -> str:
        return " then ".join(filter(None, (self.victim, self.point)))


def attacks(seed: int, *, spare_driver: bool = False, broker: bool = False) -> Iterator[Attack]:
    """One after the other, without end; those that need a new start of Spark may be left out."""
    chance = random.Random(seed)  # noqa: S311
    signals = [kind for kind in SIGNALS if not (spare_driver and kind in OF_DRIVER)]
    signals += [*FROZEN, *LANE_CONNECTIONS]
    signals += OF_BROKER if broker else ()
    first = ("worker", "broker") if broker else ("worker",)
    points, later = (
        [point for point in several if not (spare_driver and point.startswith("driver."))]
        for several in (POINTS, RECOVERY_POINTS)
    )
    while True:
        kind = chance.random()
        victim = chance.choice(signals) if kind < 0.5 else chance.choice(first) if kind > 0.85 else ""
        point = "" if kind < 0.5 else chance.choice(later if kind > 0.85 else points)
        yield Attack(
            victim,
            point,
            chance.randrange(1, 300 if broker else 2000),
            chance.uniform(0, 0.5),
            chance.random(),
            chance.choice((1, 2, 2)),
        )

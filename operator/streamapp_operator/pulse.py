"""Whether the operator gets anywhere: how late its event loop is, and whether keys pass its queue."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from streamapp_operator.key import Key
from streamapp_operator.work.queue import KeyQueue
from streamapp_operator.work.workers import PULSE

BEAT = 15.0
STUCK = 60.0
LATE = 15.0
OLD = 300.0


class StuckError(Exception):
    """Nothing was reconciled for too long, although the API server answers."""


@dataclass(slots=True)
class Pulse:
    """What is known of the operator's progress."""

    queue: KeyQueue[Key]
    clock: Callable[[], float]
    leads: Callable[[], bool]
    lag: float = 0.0
    _passed: float = 0.0

    def passed(self) -> None:
        """A key has been through the queue."""
        self._passed = self.clock()

    async def listen(self) -> None:
        """Measure by how much the event loop is late, for ever."""
        while True:
            before = self.clock()
            await asyncio.sleep(1.0)
            self.lag = max(self.clock() - before - 1.0, 0.0)

    async def beat(self, every: float = BEAT, stuck: float = STUCK) -> None:
        """Send a key that is nobody's through the queue, for ever; an error where none comes through."""
        self.passed()
        while True:
            self.queue.add(PULSE)
            await asyncio.sleep(every)
            if self.clock() - self._passed > stuck:
                raise StuckError(f"nothing was reconciled for {stuck:.0f} s")

    def wrong(self) -> str:
        """Why this process should be started anew, if it should; the API server's absence is no reason."""
        if self.lag > LATE:
            return f"the event loop was late by {self.lag:.0f} s"
        if self.leads() and self.queue.age > OLD:
            return f"a key has been waiting for {self.queue.age:.0f} s"
        return ""

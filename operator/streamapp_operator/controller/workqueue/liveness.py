"""Whether the operator gets anywhere: how late its event loop is, and whether keys pass its queue."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.workers import LIVENESS_KEY

CHECK_SECONDS = 15.0
STUCK_SECONDS = 60.0
MAX_LOOP_LAG = 15.0
MAX_QUEUE_AGE = 300.0


class QueueStuckError(Exception):
    """Nothing was reconciled for too long, although the API server answers."""


@dataclass(slots=True)
class OperatorLiveness:
    """What is known of the operator's progress."""

    queue: KeyQueue[AppKey]
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

    async def beat(self, every: float = CHECK_SECONDS, stuck: float = STUCK_SECONDS) -> None:
        """Send a key that is nobody's through the queue, for ever; an error where none comes through."""
        self.passed()
        while True:
            self.queue.add(LIVENESS_KEY)
            await asyncio.sleep(every)
            if self.clock() - self._passed > stuck:
                raise QueueStuckError(f"nothing was reconciled for {stuck:.0f} s")

    def wrong(self) -> str:
        """Why this process should be started anew, if it should; the API server's absence is no reason."""
        if self.lag > MAX_LOOP_LAG:
            return f"the event loop was late by {self.lag:.0f} s"
        if self.leads() and self.queue.age > MAX_QUEUE_AGE:
            return f"a key has been waiting for {self.queue.age:.0f} s"
        return ""

"""The operator's liveness: the lag of its event loop, and whether keys pass its queue."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.workers import LIVENESS_KEY

CHECK_SECONDS = 15.0
STUCK_SECONDS = 60.0
MAX_LOOP_LAG = 15.0
MAX_QUEUE_AGE = 300.0
MAX_UNANSWERED_SECONDS = 300.0


class QueueStuckError(Exception):
    """Nothing was reconciled for too long, although the API server answers."""


@dataclass(slots=True)
class AnsweredRequests:
    """For how long all requests to the API server have been without a usable answer."""

    clock: Callable[[], float]
    _first_unanswered: float | None = None  # since the last answer
    _last_unanswered: float = 0.0

    def request_ended(self, code: str) -> None:
        """Record the code of a request, "none" where no reply came. 429 and 5xx answer nothing."""
        if code not in {"none", "429"} and not code.startswith("5"):
            self._first_unanswered = None
            return
        self._last_unanswered = self.clock()
        if self._first_unanswered is None:
            self._first_unanswered = self._last_unanswered

    @property
    def unanswered_seconds(self) -> float:
        """Seconds between the first and the last request without an answer; 0 after an answer."""
        return 0.0 if self._first_unanswered is None else self._last_unanswered - self._first_unanswered


@dataclass(slots=True)
class OperatorLiveness:
    """Measures the event loop's lag and the progress of the queue."""

    queue: KeyQueue[AppKey]
    clock: Callable[[], float]
    leads: Callable[[], bool]
    requests: AnsweredRequests = field(default_factory=lambda: AnsweredRequests(monotonic))
    lag: float = 0.0
    _last_passed: float = 0.0

    def key_passed(self) -> None:
        """Record that a key passed the queue."""
        self._last_passed = self.clock()

    async def measure_lag(self) -> None:
        """Measure the lag of the event loop, for ever."""
        while True:
            before = self.clock()
            await asyncio.sleep(1.0)
            self.lag = max(self.clock() - before - 1.0, 0.0)

    async def check_queue(self, every: float = CHECK_SECONDS, stuck: float = STUCK_SECONDS) -> None:
        """Send the liveness key through the queue, for ever; QueueStuckError where no key passes."""
        self.key_passed()
        while True:
            self.queue.add(LIVENESS_KEY)
            await asyncio.sleep(every)
            if self.clock() - self._last_passed > stuck:
                raise QueueStuckError(f"nothing was reconciled for {stuck:.0f} s")

    def problem(self) -> str:
        """Why this process should be restarted; empty if healthy. An unreachable API server is no reason."""
        if self.lag > MAX_LOOP_LAG:
            return f"the event loop was late by {self.lag:.0f} s"
        if self.leads() and self.queue.age > MAX_QUEUE_AGE:
            return f"a key has been waiting for {self.queue.age:.0f} s"
        unanswered = self.requests.unanswered_seconds
        if self.leads() and unanswered > MAX_UNANSWERED_SECONDS:
            return f"the API server renews the Lease, and has answered nothing else for {unanswered:.0f} s"
        return ""

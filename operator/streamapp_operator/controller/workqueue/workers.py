"""What drains the queue: a fixed number of workers, each bounded in time for each key."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.api_errors import (
    LeadershipLostError,
    RejectedError,
    UnansweredError,
)
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.telemetry.json_logs import log_context
from streamapp_operator.controller.telemetry.operator_metrics import RECONCILE_SECONDS, RECONCILES
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome, RequeueAfter
from streamapp_operator.controller.workqueue.retry_backoff import RetryBackoff

RECONCILE_SECONDS_LIMIT = 45.0
"""Seconds that one reconcile may take. Being cut off is to it like being killed: the next one goes on."""
LIVENESS_KEY = AppKey("", "")
"""A key that is no app's: it passes the queue from time to time to see that keys do."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Take keys from the queue and reconcile them."""

    queue: KeyQueue[AppKey]
    reconcile: Callable[[AppKey], Awaitable[ReconcileOutcome]]
    generation: Callable[[AppKey], int | None]  # for the log
    passed: Callable[[], None]  # called whenever a key has been through
    backoff: RetryBackoff[AppKey]
    measured: MetricCollector
    clock: Callable[[], float]
    _ids: "count[int]" = field(default_factory=lambda: count(1))

    async def drain(self, workers: int) -> None:
        """Work for ever; ends by an error when this replica no longer leads."""
        working = [asyncio.create_task(self._work()) for _ in range(workers)]
        try:
            done, _ = await asyncio.wait(working, return_when=asyncio.FIRST_COMPLETED)
            for one in done:
                one.result()
        finally:
            for one in working:
                one.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                if key != LIVENESS_KEY:
                    await self._one(key)
            finally:
                self.queue.done(key)
            self.passed()

    async def _one(self, key: AppKey) -> None:
        began = self.clock()
        with log_context(app=str(key), generation=self.generation(key), reconcile=next(self._ids)):
            outcome, word = await self._outcome(key)
            if outcome is not None and isinstance(outcome, RequeueAfter):
                self.queue.add_after(key, outcome.seconds)
            took = self.clock() - began
            _log.debug("reconciled", extra={"outcome": word, "seconds": round(took, 4)})
        self.measured.increment(RECONCILES, word)
        self.measured.observe(RECONCILE_SECONDS, took)

    async def _outcome(self, key: AppKey) -> tuple[ReconcileOutcome, str]:
        """What came of a reconcile, and the word for it."""
        try:
            async with asyncio.timeout(RECONCILE_SECONDS_LIMIT):
                outcome = await self.reconcile(key)
        except LeadershipLostError:
            raise
        except UnansweredError as error:
            seconds = self.backoff.failed(key, error.after)
            _log.warning("no answer: %s; again in %.1f s", error, seconds)
            return RequeueAfter(seconds), "unanswered"
        except RejectedError as error:
            seconds = self.backoff.failed(key)
            _log.error("the API server refuses (%s): %s; again in %.1f s", error.code, error, seconds)
            return RequeueAfter(seconds), "rejected"
        except TimeoutError:
            seconds = self.backoff.failed(key)
            _log.error("not done after %.0f s; again in %.1f s", RECONCILE_SECONDS_LIMIT, seconds)
            return RequeueAfter(seconds), "cut off"
        except Exception:  # a fault in our own code must cost one app its turn, not all of them the operator
            seconds = self.backoff.failed(key)
            _log.exception("failed; again in %.1f s", seconds)
            return RequeueAfter(seconds), "failed"
        self.backoff.succeeded(key)
        return outcome, "again" if isinstance(outcome, RequeueAfter) else "done"

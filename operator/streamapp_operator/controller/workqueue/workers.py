"""The worker pool: a fixed number of workers, with a time limit for each reconcile."""

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
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.telemetry.json_logs import log_context
from streamapp_operator.controller.telemetry.operator_metrics import RECONCILE_SECONDS, RECONCILES
from streamapp_operator.controller.workqueue.key_queue import KeyQueue
from streamapp_operator.controller.workqueue.reconcile_outcome import ReconcileOutcome, RequeueAfter
from streamapp_operator.controller.workqueue.retry_backoff import RetryBackoff

RECONCILE_SECONDS_LIMIT = 45.0
"""Seconds that one reconcile may take. The next one continues where a cancelled one stopped."""
LIVENESS_KEY = AppKey("", "")
"""A key of no app, sent through the queue from time to time to check that keys pass."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Takes keys from the queue and reconciles them."""

    queue: KeyQueue[AppKey]
    reconcile: Callable[[AppKey], Awaitable[ReconcileOutcome]]
    generation: Callable[[AppKey], int | None]  # for the log
    on_key_done: Callable[[], None]  # called after each key
    backoff: RetryBackoff[AppKey]
    metrics: MetricCollector
    clock: Callable[[], float]
    _ids: "count[int]" = field(default_factory=lambda: count(1))

    async def run(self, worker_count: int) -> None:
        """Reconcile for ever; ends with an error when this replica no longer leads."""
        workers = [asyncio.create_task(self._run_worker()) for _ in range(worker_count)]
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
            for worker in done:
                worker.result()
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _run_worker(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                if key != LIVENESS_KEY:
                    await self._reconcile_key(key)
            finally:
                self.queue.done(key)
            self.on_key_done()

    async def _reconcile_key(self, key: AppKey) -> None:
        started = self.clock()
        with log_context(
            app=str(key),
            namespace=key.namespace,
            name=key.name,
            generation=self.generation(key),
            reconcile=next(self._ids),
        ):
            outcome, outcome_label = await self._outcome(key)
            if outcome is not None and isinstance(outcome, RequeueAfter):
                self.queue.add_after(key, outcome.seconds)
            seconds = self.clock() - started
            _log.debug("reconciled", extra={"outcome": outcome_label, "seconds": round(seconds, 4)})
        self.metrics.increment(RECONCILES, outcome_label)
        self.metrics.observe(RECONCILE_SECONDS, seconds)

    async def _outcome(self, key: AppKey) -> tuple[ReconcileOutcome, str]:
        """The outcome of a reconcile and its metric label."""
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
        except Exception:  # a bug must cost one app its turn, and not stop the operator for all apps
            seconds = self.backoff.failed(key)
            _log.exception("failed; again in %.1f s", seconds)
            return RequeueAfter(seconds), "failed"
        self.backoff.succeeded(key)
        return outcome, "again" if isinstance(outcome, RequeueAfter) else "done"

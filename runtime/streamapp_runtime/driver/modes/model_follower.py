"""The work between two batches in every mode: look for another model from time to time, and report."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from streamapp.protocol.driver_report import Report
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.failures import RETRIABLE, FailedError
from streamapp_runtime.driver.reporting.busy_time import BusyTime
from streamapp_runtime.driver.reporting.run_report import run_report
from streamapp_runtime.systems.stream_system import FencedError
from streamapp_runtime.transport.message_transport import MessageTransport

FOLLOW_SECONDS: Final = 0.5
"""How often a driver looks for what is wanted of it."""


@dataclass(slots=True, kw_only=True)
class ModelFollower(ABC):
    """A run between two of its batches."""

    loop: Loop
    executor_pool: ExecutorPool
    transport: MessageTransport
    changed: Callable[[RunChange], None]
    _last_batch: BatchResult | None = None
    _followed_at: float = float("-inf")
    _busy: BusyTime = field(default_factory=BusyTime)
    _utilization: int | None = None  # as it was reported last

    @abstractmethod
    def begin(self) -> None:
        """Report that the run waits for its first batch."""

    @abstractmethod
    def take_up(self, *, now: bool) -> bool:
        """Take up what is wanted, `now` or when it is due; whether another model was taken up."""

    @abstractmethod
    def complete(self, report: Report) -> Report:
        """A report with what the mode has to add."""

    def follow(self, *, now: bool = False) -> bool:
        """Run another model from the next batch on, if one is wanted; whether one was taken up."""
        if not now and time.monotonic() - self._followed_at < FOLLOW_SECONDS:
            return False
        self._followed_at = time.monotonic()
        if self._last_batch is not None and self._busy.percent(self._followed_at) != self._utilization:
            self.report()
        try:
            return self.take_up(now=now)
        except FencedError as error:
            raise FailedError(f"another driver runs this app: {error}") from error
        except RETRIABLE as error:
            self.loop.disturbed(error)
            return False

    def report(self, batch: BatchResult | None = None, *, ended: bool = False) -> None:
        """Report how things are, since the last batch where there is no later one."""
        now = time.monotonic()
        if batch is not None:
            self._last_batch = batch
            self._busy.note(now, batch.seconds)
        self._utilization = self._busy.percent(now)
        report = run_report(self.loop, self._last_batch, self._utilization, ended=ended)
        self.transport.report(self.complete(report))

"""A run that is its own author: between batches it takes up growths and wishes, and tells how things are."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from streamapp.protocol.accepted_app import spec_hash
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange, change_refused, model_switched
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.failures import RETRIABLE, FailedError
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.reporting.run_report import run_report
from streamapp_runtime.driver.start.locality_memory import LocalityMemory
from streamapp_runtime.systems.stream_system import FencedError
from streamapp_runtime.transport.message_transport import MessageTransport

LOOK_SECONDS = 0.5
"""How often wishes are looked for."""


@dataclass(slots=True)
class StandaloneFollower:
    """What goes on beside the batches."""

    loop: Loop
    author: ModelAuthor
    workforce: ExecutorPool
    carrier: MessageTransport
    places: LocalityMemory
    processors: int  # as many as the run began with
    changed: Callable[[RunChange], None]
    _last: BatchResult | None = None
    _looked: float = float("-inf")

    def begin(self) -> None:
        """Note where everything is."""
        self._noted()
        self.tell()

    def look(self, *, now: bool = False) -> bool:
        """Run another model from the next batch on, if one is wanted; whether one was taken up."""
        if not now and time.monotonic() - self._looked < LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        try:
            return self._look(now)
        except FencedError as error:
            raise FailedError(f"another driver runs this app: {error}") from error
        except RETRIABLE as error:
            self.loop.disturbed(error)
            return False

    def _look(self, now: bool) -> bool:
        wanted = self.carrier.wanted()
        processors = (wanted.processors if wanted else 0) or self.processors
        if processors > len(self.loop.launch.lanes) and not self.workforce.ready(processors):
            return False
        return self._follow(processors, count=now or self.author.due())

    def _follow(self, processors: int, *, count: bool) -> bool:
        loop, author = self.loop, self.author
        before, was, told = loop.launch, loop.manning.roster.assigned, author.warnings
        found = author.next(before, was, loop.session, processors, count=count)
        if author.warnings != told and found is None:
            self.changed(change_refused(before, was, author.warnings))
        if author.warnings != told:
            self.tell()
        if found is None:
            return False
        after, why = found
        if after.counts != before.counts and before.app.spec.on_partition_change == "restart":
            loop.switch(after, lambda: self.workforce.anew(processors))
            why.append("Spark began anew")
        else:
            loop.switch(after, lambda: self.workforce.renewed(processors))
            if processors < len(before.lanes):
                self.workforce.dismiss(loop.manning.executors())
        self._noted()
        self.changed(model_switched(before, was, after, why))
        return True

    def _noted(self) -> None:
        launch = self.loop.launch
        self.places.note(launch.model, launch.locations)

    def tell(self, batch: BatchResult | None = None, *, ended: bool = False) -> None:
        """Report how things are, since the last batch where there is no later one."""
        self._last = batch or self._last
        launch = self.loop.launch
        self.carrier.report(
            replace(
                run_report(self.loop, self._last, ended=ended),
                spec_hash=spec_hash(launch.app),
                counts={name: count for name, count in launch.counts.items() if count is not None},
                warnings=self.author.warnings,
            )
        )

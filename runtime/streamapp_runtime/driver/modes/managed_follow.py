"""What a driver does for its operator beside the batches: take up models, count streams, report."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from streamapp.author.monitoring import growth_interval
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import ReportedWarning
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.resource.field_changes import changes
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import RunChange, change_refused, model_switched, spec_edited
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.failures import RETRIABLE, FailedError
from streamapp_runtime.driver.modes.live_edit import apply_edit, is_live
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.reporting.run_report import run_report
from streamapp_runtime.driver.start.live_world import counts_of
from streamapp_runtime.systems.stream_system import FencedError
from streamapp_runtime.transport.message_transport import MessageTransport

LOOK_SECONDS = 0.5


@dataclass(slots=True)
class ManagedFollower:
    """One driver under an operator."""

    loop: Loop
    accepted: AcceptedApp  # with which it was started, and by which it is called
    carrier: MessageTransport
    workforce: ExecutorPool
    pod: str
    changed: Callable[[RunChange], None]
    taken: WantedState | None  # the last one that was looked at, taken up or refused
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[ReportedWarning, ...] = ()
    edited: AcceptedApp | None = None  # a later generation that was taken up since
    _last: BatchResult | None = None
    _looked: float = float("-inf")
    _counted: float = float("-inf")

    def look(self, *, now: bool = False) -> bool:
        """Run another model from the next batch on, if one is wanted; whether one was taken up."""
        if not now and time.monotonic() - self._looked < LOOK_SECONDS:
            return False
        self._looked = time.monotonic()
        try:
            self._attune()
            self._count()
            return self._follow()
        except FencedError as error:
            raise FailedError(f"another driver runs this app: {error}") from error
        except RETRIABLE as error:
            self.loop.disturbed(error)
            return False

    def tell(self, batch: BatchResult | None = None, *, ended: bool = False) -> None:
        """Report how things are, since the last batch where there is no later one."""
        self._last = batch or self._last
        self.carrier.report(
            replace(
                run_report(self.loop, self._last, ended=ended),
                driver=self.pod,
                spec_hash=self.accepted.hash,
                generation=self._goes_by.generation,
                counts=self.counts,
                warnings=self.warnings,
            )
        )

    @property
    def _goes_by(self) -> AcceptedApp:
        return self.edited or self.accepted

    def _attune(self) -> None:
        """Take up a later generation, unless it is one that a driver has to be started for."""
        newest, was = self.carrier.accepted(), self._goes_by
        if newest is None or newest.generation <= was.generation or newest.owner != was.owner:
            return
        if not is_live(self.accepted.app, newest.app):
            return
        apply_edit(self.loop, newest.app)
        self.edited = newest
        fields = [one.path for one in changes(was.app, newest.app)]
        loop = self.loop
        self.changed(spec_edited(loop.launch, loop.manning.roster.assigned, newest.generation, fields))
        self.tell()

    def _count(self) -> None:
        app = self._goes_by.app
        seconds = growth_interval(app)
        if self.counts and (seconds is None or time.monotonic() - self._counted < seconds):
            return
        self._counted = time.monotonic()
        found = counts_of(app, self.loop.system)
        self.counts = {name: count for name, count in found.items() if count is not None}
        self.tell()

    def _follow(self) -> bool:
        wanted, loop = self.carrier.wanted(), self.loop
        if wanted is None or wanted == self.taken or wanted.spec_hash != self.accepted.hash:
            return False
        model, before, was = wanted.model, loop.launch, loop.manning.roster.assigned
        if model is None or model == before.model:
            self.taken, self.warnings = wanted, ()
            return False
        wider = len(model.processors) > len(before.lanes)
        if wider and not self.workforce.ready(len(model.processors)):
            return False
        after = launch_wanted(before.site, loop.session, wanted, model, before)
        self.taken = wanted
        if isinstance(after, Refusal):
            self.warnings = (ReportedWarning(after.reason, after.path, after.message, model.version),)
            self.changed(change_refused(before, was, self.warnings))
            self.tell()
            return False
        loop.switch(after)
        if len(model.processors) < len(before.lanes):
            self.workforce.dismiss(loop.manning.executors())
        self.warnings = ()
        self.changed(model_switched(before, was, after, ["as the operator wants it"]))
        self.tell()
        return True

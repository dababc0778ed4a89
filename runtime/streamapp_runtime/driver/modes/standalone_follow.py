"""A run that is its own author: between batches it takes up growths and wanted numbers of processors."""

from dataclasses import dataclass, field, replace

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import Report
from streamapp_runtime.driver.batches.run_change import change_refused, model_switched
from streamapp_runtime.driver.modes.model_author import ModelAuthor
from streamapp_runtime.driver.modes.model_follower import ModelFollower
from streamapp_runtime.driver.modes.run_lock import RunLock
from streamapp_runtime.driver.start.locality_memory import LocalityMemory


@dataclass(slots=True, kw_only=True)
class StandaloneFollower(ModelFollower):
    """The work beside the batches of a run by hand."""

    author: ModelAuthor
    locality: LocalityMemory
    lock: RunLock
    processors: int  # as many as the run began with
    _accepted: AcceptedApp = field(init=False)  # what runs, as its own author accepted it

    def __post_init__(self) -> None:
        """Begin with what the loop begins with."""
        self._accepted = AcceptedApp(self.loop.launch.app)

    def begin(self) -> None:
        """Note where everything is, and report that the run waits for its first batch."""
        self._note_locality()
        self.report()

    def take_up(self, *, now: bool) -> bool:
        """Take up another number of processors, or streams that grew."""
        self.lock.check()
        wanted = self.transport.wanted()
        processors = (wanted.processors if wanted else 0) or self.processors
        if processors > len(self.loop.launch.lanes) and not self.executor_pool.ready(processors):
            return False
        return self._switch(processors, count=now or self.author.due())

    def complete(self, report: Report) -> Report:
        """A report with the app's hash and counts, and what the author refused."""
        launch = self.loop.launch
        if self._accepted.app is not launch.app:
            self._accepted = AcceptedApp(launch.app)
        return replace(
            report,
            spec_hash=self._accepted.hash,
            counts={name: count for name, count in launch.counts.items() if count is not None},
            warnings=self.author.warnings,
        )

    def _switch(self, processors: int, *, count: bool) -> bool:
        loop, author = self.loop, self.author
        before, lanes_before = loop.launch, loop.lanes.supervisor.assignment.assigned
        warnings_before = author.warnings
        proposed = author.next(before, lanes_before, loop.lanes.spark, processors, count=count)
        if author.warnings != warnings_before:
            if proposed is None:
                self.changed(change_refused(before, lanes_before, author.warnings))
            self.report()
        if proposed is None:
            return False
        after, reasons = proposed
        if after.counts != before.counts and before.app.spec.on_partition_change == "restart":
            loop.switch(after, lambda: self.executor_pool.restarted(processors))
            reasons.append("Spark was restarted")
        else:
            loop.switch(after, lambda: self.executor_pool.renewed(processors))
            if processors < len(before.lanes):
                self.executor_pool.release_others(loop.lanes.supervisor.needed_executors())
        self._note_locality()
        self.changed(model_switched(before, lanes_before, after, reasons))
        return True

    def _note_locality(self) -> None:
        launch = self.loop.launch
        self.locality.note(launch.model, launch.locations)

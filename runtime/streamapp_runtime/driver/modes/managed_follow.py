"""A driver's work for its operator between batches: take up models and edits, count streams, report."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from streamapp.author.monitoring import growth_interval
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import CandidateVerdict, DriverState, Report, ReportedWarning
from streamapp.protocol.start_steps import StartStep
from streamapp.protocol.wanted_state import WantedState
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.field_changes import changes
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.user_answers import known_counts, own_functions
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_change import change_refused, model_switched, spec_edited
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction, open_transactions_text
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition, unread_partitions_text
from streamapp_runtime.driver.modes.candidate_check import CandidateCheck
from streamapp_runtime.driver.modes.live_edit import apply_edit, is_live
from streamapp_runtime.driver.modes.model_follower import ModelFollower
from streamapp_runtime.driver.modes.task_validation import TaskValidation, validate_tasks
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.reporting.run_messages import waiting_message
from streamapp_runtime.driver.reporting.start_clock import StartClock
from streamapp_runtime.driver.start.live_inputs import counts_of
from streamapp_runtime.driver.start.user_functions import UserLocations
from streamapp_runtime.systems.answering_systems import SilentSystem, silent_systems_text


def first_report(accepted: AcceptedApp, pod: str, state: DriverState) -> Report:
    """The report of a driver before it has a model."""
    return Report(state, driver=pod, spec_hash=accepted.hash, generation=accepted.generation)


def reported_warnings(problems: Iterable[Problem]) -> tuple[ReportedWarning, ...]:
    """Problems of an app that continues, as a report has them."""
    return tuple(ReportedWarning(problem.reason, problem.path, problem.message) for problem in problems)


@dataclass(frozen=True, slots=True)
class InputWaits:
    """The inputs of a run that are waited for, or not read."""

    awaited: tuple[str, ...] = ()  # side inputs without a version
    transactions: tuple[OpenTransaction, ...] = ()  # that have been open for long
    unread: tuple[UnreadPartition, ...] = ()  # that have been passed over for long
    silent: tuple[SilentSystem, ...] = ()  # that do not answer, while others do

    @classmethod
    def of(cls, loop: Loop) -> "InputWaits":
        """As of the last look of a loop."""
        backlog = loop.backlog
        lasting = backlog.open_transactions.lasting, backlog.unread.lasting
        return cls(loop.planner.awaited, *lasting, backlog.answering.silent)


@dataclass(slots=True, kw_only=True)
class ManagedFollower(ModelFollower):
    """One driver under an operator."""

    accepted: AcceptedApp  # with which it was started, and by which it is called
    pod: str
    last_wanted: WantedState | None  # the last one that was looked at, taken up or refused
    validation: TaskValidation = field(default_factory=TaskValidation)  # of the app's own functions
    user_locations: UserLocations | None = None
    start_clock: StartClock = field(default_factory=StartClock)
    counts: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[ReportedWarning, ...] = ()
    edited: AcceptedApp | None = None  # a later generation that was taken up since
    reported_waits: InputWaits = field(default_factory=InputWaits)  # as of the last report
    candidate_check: CandidateCheck | None = None  # of a generation that needs another driver
    verdict: CandidateVerdict | None = None  # the last one
    _counted_at: float = float("-inf")

    def begin(self) -> None:
        """Report that the run waits for its executors, and ask for them."""
        report = first_report(self.accepted, self.pod, DriverState.WAITING)
        self.transport.report(replace(report, run_id=self.loop.ledger.run_id))
        self.executor_pool.request(len(self.loop.launch.lanes))

    def take_up(self, *, now: bool) -> bool:
        """Take up a later generation and another model, and count the streams when it is time."""
        if self.user_locations is not None:
            self.user_locations.starting = False
        self._take_up_edit()
        self._try_candidate()
        self._count()
        if (waits := InputWaits.of(self.loop)) != self.reported_waits:
            self.reported_waits = waits
            self.report()
        return self._take_up_model()

    def complete(self, report: Report) -> Report:
        """A report with whose driver this is, and what it knows of streams and refused models."""
        if report.state.has_batches:
            self.start_clock.note(StartStep.BATCH)
        return replace(
            report,
            driver=self.pod,
            spec_hash=self.accepted.hash,
            generation=self._current.generation,
            counts=self.counts,
            warnings=(*self.warnings, *reported_warnings(self._problems()), *self._waits()),
            answers=self.validation.answers,
            start=dict(self.start_clock.times),
            verdict=self.verdict or CandidateVerdict(self.accepted.generation),
        )

    @property
    def _current(self) -> AcceptedApp:
        """The generation that the run goes by."""
        return self.edited or self.accepted

    def _take_up_edit(self) -> None:
        """Take up a later generation, unless it is one that a driver has to be started for."""
        newest, before = self.transport.accepted(), self._current
        if newest is None or newest.generation <= before.generation or newest.owner != before.owner:
            return
        if not is_live(self.accepted.app, newest.app):
            return
        apply_edit(self.loop, newest.app)
        self.edited = newest
        fields = [change.path for change in changes(before.app, newest.app)]
        lanes = self.loop.lanes.supervisor.assignment.assigned
        self.changed(spec_edited(self.loop.launch, lanes, newest.generation, fields))
        self.report()

    def _try_candidate(self) -> None:
        """Look at a generation that the operator asks about, one after the other."""
        candidate, verdict = self.transport.candidate(), self.verdict
        if self.candidate_check is not None:
            if (problems := self.candidate_check.problems) is None:
                return
            generation, self.candidate_check = self.candidate_check.candidate.generation, None
            self.verdict = CandidateVerdict(generation, reported_warnings(problems))
            self.report()
        elif (
            candidate is not None
            and candidate.owner == self.accepted.owner
            and candidate.generation > max(self._current.generation, verdict.generation if verdict else 0)
        ):
            self.candidate_check = CandidateCheck.begin(
                candidate, self.loop.launch.context, self.loop.lanes.spark
            )

    def _count(self) -> None:
        app = self._current.app
        seconds = growth_interval(app)
        is_due = seconds is not None and time.monotonic() - self._counted_at >= seconds
        if self.counts and (not is_due or self.reported_waits.silent):
            return
        self._counted_at = time.monotonic()
        self.counts = known_counts(counts_of(app, self.loop.launch.context.systems))
        if own_functions(app) and self.counts != self.validation.counts:
            self._validate_tasks()
        self.report()

    def _validate_tasks(self) -> None:
        """Ask the app's own functions about streams that have changed; what is refused changes no task."""
        before, lanes, loop = self.validation, self.loop.lanes.supervisor.assignment.assigned, self.loop
        self.validation = validate_tasks(loop.launch.context, time.time())
        if self.validation.answers is None:
            self.validation = replace(self.validation, answers=before.answers)
        if self.validation.problems and self.validation.problems != before.problems:
            self.changed(change_refused(loop.launch, lanes, reported_warnings(self.validation.problems)))

    def _problems(self) -> tuple[Problem, ...]:
        located = self.user_locations.problems if self.user_locations else ()
        return (*self.validation.problems, *located)

    def _waits(self) -> Iterator[ReportedWarning]:
        """Systems and partitions that are not read, and what rows wait for besides."""
        waits = self.reported_waits
        if waits.silent:
            text = silent_systems_text(waits.silent)
            yield ReportedWarning(Reason.INPUT_UNAVAILABLE, "spec.systems", text)
        if waits.unread:
            text = unread_partitions_text(waits.unread)
            yield ReportedWarning(Reason.PARTITION_NOT_READ, "spec.streams", text)
        if waits.transactions:
            text = open_transactions_text(waits.transactions)
            yield ReportedWarning(Reason.TRANSACTION_OPEN, "spec.streams", text)
        for number, table in enumerate(self._current.app.spec.tables):
            for side, side_input in enumerate(table.side_inputs):
                if side_input.stream in waits.awaited:
                    path, text = (
                        f"spec.tables[{number}].sideInputs[{side}]",
                        waiting_message((side_input.stream,)).text,
                    )
                    yield ReportedWarning(Reason.AWAITING_SIDE_INPUT, path, text)

    def _take_up_model(self) -> bool:
        wanted, loop = self.transport.wanted(), self.loop
        if wanted is None or wanted == self.last_wanted or wanted.spec_hash != self.accepted.hash:
            return False
        model, before, lanes_before = wanted.model, loop.launch, loop.lanes.supervisor.assignment.assigned
        if model is None or model == before.model:
            self.last_wanted, self.warnings = wanted, ()
            return False
        wider = len(model.processors) > len(before.lanes)
        if wider and not self.executor_pool.ready(len(model.processors)):
            return False
        known = loop.lanes.supervisor.known_placement()
        after = launch_wanted(before.context, loop.lanes.spark, wanted, model, before, known)
        self.last_wanted = wanted
        if isinstance(after, Refusal):
            self.warnings = (ReportedWarning(after.reason, after.path, after.message, model.version),)
            self.changed(change_refused(before, lanes_before, self.warnings))
            self.report()
            return False
        loop.switch(after)
        if len(model.processors) < len(before.lanes):
            self.executor_pool.release_others(loop.lanes.supervisor.needed_executors())
        self.warnings = ()
        self.changed(model_switched(before, lanes_before, after, ["as the operator wants it"]))
        self.report()
        return True

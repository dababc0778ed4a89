"""From an app and its partition counts to a plan and tasks, by the author that operator and driver share."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from streamapp.author.names import checkpoint_stream
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs, Proposal, propose
from streamapp.author.start_problems import start_problems
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_conflict import layout_conflict
from streamapp.tasks.user_answers import answered_counts, replay_of
from streamapp_operator.reconciler.facts.facts import DesiredModel, Facts, PublishedRun
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
)

OLD_CHECKPOINTS: Final = (
    "there is state under this application id; the driver plans by the layout stored with it"
)
OWN_FUNCTIONS: Final = "the driver asks the app's own grouper and expansion algorithm, in the app's image"

OWN_TOKENS: Final = "the driver asks brokers for partition counts: only it has the app's own token function"


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """A plan and its tasks, or the problems that prevent them."""

    counts: PartitionCounts
    run_id: str
    proposal: Proposal | None = None
    problems: tuple[Problem, ...] = ()
    planned_by_driver: str = ""  # why only the driver can form the tasks; empty where it need not

    @property
    def assignment(self) -> Assignment | None:
        """The tasks, where there are any."""
        return self.proposal.assignment if self.proposal else None

    @property
    def rejected(self) -> bool:
        """True if the plan itself is rejected; where only the tasks are, the model in force may stay."""
        return self.proposal is not None and self.proposal.plan.outcome is PlanOutcome.REJECTED


def plan_generation(facts: Facts, app: StreamApp, generation: int) -> GenerationPlan:
    """Plan one generation with its known partition counts."""
    counts = facts.cluster.counts.get(generation, PendingCounts())
    reported_layout = facts.run.report.layout if facts.run.report else None
    answers = facts.run.report.answers if facts.run.report else None
    inputs = (app, counts, facts.run.desired, reported_layout, answers, facts.run.report is None)
    return facts.memoized.of(
        (facts.uid, generation),
        inputs,
        lambda: _author(facts, app, counts, generation),
        facts.cluster.partitions,
    )


def _author(facts: Facts, app: StreamApp, counts: PartitionCounts, generation: int) -> GenerationPlan:
    layout, run_id = layout_basis(facts, app)
    if isinstance(counts, SystemMisconfigured):
        return GenerationPlan(counts, run_id, problems=(Problem(0, 0, counts.path, counts.message),))
    judged = facts.app.start_problems.get(generation)
    if problems := start_problems(app) if judged is None else judged:
        return GenerationPlan(counts, run_id, problems=problems)
    if not isinstance(counts, KnownCounts):
        return GenerationPlan(counts, run_id)
    if reason := _reason_for_driver(facts.run, app, counts, layout):
        return GenerationPlan(counts, run_id, planned_by_driver=reason)
    replay = replay_of(app, facts.run.report.answers if facts.run.report else None)
    inputs = PlanningInputs(
        answered_counts(counts.counts, replay.answers),
        layout,
        run_id,
        facts.now,
        algorithm=replay.algorithm,
        grouper=replay.grouper,
        asked=frozenset(counts.counts),
    )
    proposal = propose(app, inputs)
    if replay.unanswered:  # whatever followed from that: the driver asks the app's functions, and reports
        return GenerationPlan(counts, run_id, planned_by_driver=OWN_FUNCTIONS)
    return GenerationPlan(counts, run_id, proposal, proposal_problems(app, proposal))


def run_of(uid: str, reset_nonce: int) -> str:
    """The id of a run: a hash of the app's uid and reset nonce, so that only a reset changes it."""
    return blake2b(f"{uid}/{reset_nonce}".encode(), digest_size=12).hexdigest()


def layout_basis(facts: Facts, app: StreamApp) -> tuple[Layout | None, str]:
    """The layout to plan from and the id of its run.

    The reported layout, which lies with the state, is right. The desired layout takes precedence where it
    only extends the reported one, as after a growth that the driver has not taken up yet.
    """
    desired = facts.run.desired
    fresh = (None, run_of(facts.uid, app.spec.reset_nonce))
    if desired is not None and desired.reset_nonce < app.spec.reset_nonce:
        return fresh  # the reset gives the present state up
    reported_layout = facts.run.report.layout if facts.run.report else None
    desired_layout = desired.wanted.layout if desired else None
    if (
        desired is not None
        and desired_layout is not None
        and (reported_layout is None or _extends(desired, desired_layout, reported_layout))
    ):
        return desired_layout, desired_layout.run
    return (reported_layout, reported_layout.run) if reported_layout is not None else fresh


def _extends(desired: DesiredModel, desired_layout: Layout, reported_layout: Layout) -> bool:
    """True if the desired layout only adds to the reported one, or replaces it by a reset."""
    if desired.was_reset and reported_layout.run != desired_layout.run:
        return True  # a driver from before the reset reported the layout
    model = desired.wanted.model
    tasks = {task.name: task.partitions for task in model.tasks} if model else {}
    return layout_conflict(reported_layout, desired_layout, tasks, model.broadcast if model else ()) is None


def _reason_for_driver(run: PublishedRun, app: StreamApp, counts: KnownCounts, layout: Layout | None) -> str:
    """The reason for which the driver plans before anything is asked; empty where it need not."""
    if any(stream.name in counts.only_driver for stream in app.spec.streams):
        return OWN_TOKENS
    return OLD_CHECKPOINTS if layout is None and _has_old_checkpoints(run, app, counts) else ""


def _has_old_checkpoints(run: PublishedRun, app: StreamApp, counts: KnownCounts) -> bool:
    """True if an app without a model has checkpoints: the app was deleted and created again.

    Its streams may have grown since, so that only the layout beside the state tells how to plan. The first
    driver plans by that layout and reports it.
    """
    has_model = run.desired is not None and run.desired.wanted.model is not None
    return (
        not has_model
        and run.report is None
        and counts.counts.get(checkpoint_stream(app.application_id)) is not None
    )

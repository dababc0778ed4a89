"""From an app and the counts of its streams to a plan and tasks, by the one author that all parts share."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

from streamapp.author.names import checkpoint_stream, processor_names
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import Proposal, World, propose
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.groupers.grouper import BUILT_IN_GROUPERS
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_conflict import layout_conflict
from streamapp_operator.reconciler.facts.facts import DesiredModel, Facts
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
    SystemMisconfigured,
)


@dataclass(frozen=True, slots=True)
class GenerationPlan:
    """A plan and its tasks, or why there are none."""

    counts: PartitionCounts
    run: str
    proposal: Proposal | None = None
    problems: tuple[Problem, ...] = ()
    by_driver: bool = False  # there is state that only a driver can look into

    @property
    def assignment(self) -> Assignment | None:
        """The tasks, where there are any."""
        return self.proposal.assignment if self.proposal else None

    @property
    def rejected(self) -> bool:
        """Whether the plan itself is wrong; where only the tasks are, a model that is in force may go on."""
        return self.proposal is not None and self.proposal.plan.outcome is PlanOutcome.REJECTED


def plan_generation(facts: Facts, app: StreamApp, generation: int) -> GenerationPlan:
    """Plan one generation with the counts that are known for it."""
    counts = facts.counts.get(generation, PendingCounts())
    told = facts.report.layout if facts.report else None
    made_of = (app, counts, facts.desired, told, facts.report is None)
    return facts.worked.of((facts.uid, generation), made_of, lambda: _author(facts, app, counts))


def _author(facts: Facts, app: StreamApp, counts: PartitionCounts) -> GenerationPlan:
    layout, run = layout_basis(facts, app)
    if isinstance(counts, SystemMisconfigured):
        return GenerationPlan(counts, run, problems=(Problem(0, 0, counts.path, counts.message),))
    if problems := tuple(_own_code(app)):
        return GenerationPlan(counts, run, problems=problems)
    if not isinstance(counts, KnownCounts):
        return GenerationPlan(counts, run)
    if layout is None and _finds_state(facts, app, counts):
        return GenerationPlan(counts, run, by_driver=True)
    names = processor_names(app.spec.processors)
    proposal = propose(app, World(counts.counts, layout, run, facts.now, names))
    return GenerationPlan(counts, run, proposal, proposal_problems(app, proposal))


def run_of(uid: str, reset_nonce: int) -> str:
    """The name of a run: the same whoever works it out, and another after each reset."""
    return blake2b(f"{uid}/{reset_nonce}".encode(), digest_size=12).hexdigest()


def layout_basis(facts: Facts, app: StreamApp) -> tuple[Layout | None, str]:
    """The layout to go on from and the run that it belongs to.

    The one that lies with the state is right. Ours goes before it where ours only says more, as after a
    growth that the driver has not taken up yet.
    """
    desired = facts.desired
    fresh = (None, run_of(facts.uid, app.spec.reset_nonce))
    if desired is not None and desired.reset_nonce < app.spec.reset_nonce:
        return fresh  # what there is, is to be given up
    told = facts.report.layout if facts.report else None
    ours = desired.wanted.layout if desired else None
    if desired is not None and ours is not None and (told is None or _says_more(desired, ours, told)):
        return ours, ours.run
    return (told, told.run) if told is not None else fresh


def _says_more(desired: DesiredModel, ours: Layout, told: Layout) -> bool:
    """Whether our layout only adds to the one that lies with the state, or replaces it on purpose."""
    if desired.was_reset and told.run != ours.run:
        return True  # it is told by a driver from before the reset
    model = desired.wanted.model
    tasks = {task.name: task.partitions for task in model.tasks} if model else {}
    return layout_conflict(told, ours, tasks, model.broadcast if model else ()) is None


def _finds_state(facts: Facts, app: StreamApp, counts: KnownCounts) -> bool:
    """Whether an app that is new here has checkpoints from before: it was deleted and made anew.

    Its streams may have grown since, so that only the layout beside the state tells how to plan. The first
    driver goes by that one, and reports it.
    """
    known = facts.desired is not None and facts.desired.wanted.model is not None
    return (
        not known
        and facts.report is None
        and counts.counts.get(checkpoint_stream(app.application_id)) is not None
    )


def _own_code(app: StreamApp) -> Iterator[Problem]:
    """The operator never runs user code; what needs it to form tasks has to come from the app's own image."""
    if app.spec.grouper not in BUILT_IN_GROUPERS:
        message = "not yet supported on a cluster: a grouper of one's own"
        yield Problem(0, 0, "spec.grouper", message, Reason.NOT_YET_SUPPORTED)
    if ALGORITHM in app.spec.config:
        message = "not yet supported on a cluster: an expansion algorithm of one's own"
        yield Problem(0, 0, f"spec.config.{ALGORITHM}", message, Reason.NOT_YET_SUPPORTED)

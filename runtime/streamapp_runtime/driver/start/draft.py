"""A model of the app and what it was made from, or the refusal that says why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamapp.author.model import KnownPlacement, next_model
from streamapp.author.problems import proposal_problems, refusal_problem
from streamapp.author.proposal import PlanningInputs, Proposal
from streamapp.jobmodel.job_model import JobModel
from streamapp.placement.placement_reason import PlacementReason
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.start.user_functions import proposed


@dataclass(frozen=True, slots=True)
class Draft:
    """A model, and what it was made from."""

    proposal: Proposal
    assignment: Assignment
    counts: Mapping[str, int | None]  # the partitions for which it was made, by stream
    model: JobModel
    locations: Mapping[str, str | None]  # processor -> where it is
    reasons: Mapping[str, PlacementReason] = field(default_factory=dict)  # task -> why it is on its processor


def draft_model(app: StreamApp, inputs: PlanningInputs, known: KnownPlacement) -> Draft:
    """The next model; AppRefusedError where the plan is rejected, or tasks can be neither formed nor placed.

    All tasks are placed again: which processors hold them now is part of what is known.
    """
    proposal = proposed(app, inputs)
    assignment = proposal.assignment
    if assignment is None:
        raise AppRefusedError(list(proposal_problems(app, proposal)), proposal)
    assignment = replace(assignment, layout=replace(assignment.layout, run=inputs.run))
    following = next_model(app, assignment, inputs.processors or (), known, reassign=True)
    if isinstance(following, Refusal):
        raise AppRefusedError([refusal_problem(app, following)], proposal)
    reasons = following.placement.reasons() if following.placement else {}
    return Draft(proposal, assignment, inputs.counts, following.model, following.locations, reasons)


def first_draft(app: StreamApp, inputs: PlanningInputs, known: KnownPlacement) -> Draft:
    """The first model of a run; where a growth is refused, a model for the streams as they were before.

    A run that a growth finds running continues with the layout it has, and so does one that is started then.
    New partitions wait, and the first look at the streams warns of them.
    """
    try:
        return draft_model(app, inputs, known)
    except AppRefusedError as refused:
        before = inputs.before_growth()
        if before == inputs:
            raise
        try:
            return draft_model(app, before, known)
        except AppRefusedError:
            raise refused from None

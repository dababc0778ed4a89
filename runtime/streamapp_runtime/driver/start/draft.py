"""The tasks that follow from an app and its world, or the refusal that says why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.author.proposal import Proposal, World, propose
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Assignment
from streamapp_runtime.driver.app_refusal import AppRefusedError, problem_of
from streamapp_runtime.driver.start.operator_checks import path_of


@dataclass(frozen=True, slots=True)
class Draft:
    """What a model is made from."""

    proposal: Proposal
    assignment: Assignment
    counts: Mapping[str, int | None]  # the partitions for which it was made, by stream


def draft_of(app: StreamApp, world: World) -> Draft:
    """Plan and tasks; RefusedError where the plan is rejected or tasks cannot be formed."""
    proposal = propose(app, world)
    if proposal.tasks is None:
        told = [
            Problem(0, 0, path_of(app, e.operator or ""), f"{e.message}; {e.hint}", e.reason)
            for e in proposal.plan.errors
        ]
        raise AppRefusedError(told, proposal)
    if isinstance(proposal.tasks, Refusal):
        raise AppRefusedError([problem_of(app, proposal.tasks)], proposal)
    return Draft(proposal, proposal.tasks, world.counts)

"""The plan that a command shows: for a new app as it stands, for one that has state as the operator would."""

from collections.abc import Mapping

from streamapp.author.problems import refusal_problem
from streamapp.author.proposal import Proposal, World, propose
from streamapp.cli.looked import Looked
from streamapp.graph.build import build
from streamapp.plan.plan import Mode
from streamapp.plan.planner import plan
from streamapp.spec.app import StreamApp
from streamapp.spec.problem import Problem
from streamapp.tasks.refusal import Refusal


def planned(app: StreamApp, looked: Looked, known: Mapping[str, int | None]) -> Proposal:
    """The plan, with the counts at first state where the cluster knows of state."""
    if looked.layout is not None:
        return propose(app, World(known, looked.layout, looked.run))
    graph = build(app, known)
    return Proposal(graph, plan(graph, config=app.spec.config, mode=Mode(app.spec.mode)), None)


def refused(app: StreamApp, proposal: Proposal) -> tuple[Problem, ...]:
    """Why tasks with state could not be formed, where that is so."""
    return (refusal_problem(app, proposal.tasks),) if isinstance(proposal.tasks, Refusal) else ()

"""The plan that a command shows: for a new app as it stands, for one that has state as the operator would."""

from collections.abc import Mapping

from streamapp.author.problems import refusal_problem
from streamapp.author.proposal import Proposal, World, propose
from streamapp.cli.live_lookup import LiveFacts
from streamapp.graph.graph_builder import build_graph
from streamapp.plan.partition_plan import Mode
from streamapp.plan.planner import plan
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.refusal import Refusal


def displayed_plan(app: StreamApp, looked: LiveFacts, known: Mapping[str, int | None]) -> Proposal:
    """The plan, with the counts at first state where the cluster knows of state."""
    if looked.layout is not None:
        return propose(app, World(known, looked.layout, looked.run))
    graph = build_graph(app, known)
    return Proposal(graph, plan(graph, config=app.spec.config, mode=Mode(app.spec.mode)), None)


def task_problems(app: StreamApp, proposal: Proposal) -> tuple[Problem, ...]:
    """Why tasks with state could not be formed, where that is so."""
    return (refusal_problem(app, proposal.tasks),) if isinstance(proposal.tasks, Refusal) else ()

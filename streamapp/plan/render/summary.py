"""A plan in one line: the outcome, and the number of operators, streams, tables and joins."""

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanOutcome
from streamapp.plan.render.wording import counted


def outcome_text(plan: Plan) -> str:
    """The outcome with a mark, so that the outcome is legible without colour."""
    if plan.outcome is PlanOutcome.ACCEPTED:
        return "✓ accepted"
    return f"✗ rejected, {counted(len(plan.errors), 'error')}"


def summary(graph: Graph, plan: Plan) -> str:
    """The mode and the sizes: `stream mode · 4 operators · 4 streams · 1 table · 1 join`."""
    operators = sum(not operator.is_input for operator in graph.operators.values())
    parts = [f"{plan.mode} mode", counted(operators, "operator"), counted(len(plan.streams), "stream")]
    if graph.tables:
        parts.append(counted(len(graph.tables), "table"))
    if plan.joins:
        parts.append(counted(len(plan.joins), "join group"))
    return " · ".join(parts)

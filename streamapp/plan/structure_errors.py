"""Graphs that no partition counts could make right: names that lead nowhere, rings, missing inputs."""

from collections.abc import Iterator

from streamapp.graph.cycles import cycles
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import PlanError
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.operator_kinds import OperatorKind, StreamUse


def structure_errors(graph: Graph) -> Iterator[PlanError]:
    """Everything wrong with the graph itself, operators by name, then tables, then rings."""
    maker_kinds = _made(graph)
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        yield from _inputs(graph, operator)
        yield from _stream(graph, operator, maker_kinds)
        yield from _tables(graph, operator)
    for name in sorted(graph.tables):
        yield from _side_inputs(graph, name, maker_kinds)
    for ring in cycles(graph):
        yield _invalid(
            ring[0],
            f"operators {', '.join(ring)} wait for each other's rows",
            "let the ring pass through a local table: only a table may be read by what feeds it",
        )


def _inputs(graph: Graph, operator: OperatorNode) -> Iterator[PlanError]:
    what = f"{operator.kind} {operator.name}"
    for name in sorted({name for name in operator.inputs if name not in graph.operators}):
        yield _invalid(
            operator.name, f"{what} reads {name}, and there is no such operator", f"declare {name}"
        )
    least = operator.traits.least_inputs
    if len(operator.inputs) < least:
        has = "only one input" if operator.inputs else "no input"
        yield _invalid(
            operator.name, f"{what} has {has}", f"give {operator.name} {least} or more to read from"
        )


def _stream(
    graph: Graph, operator: OperatorNode, maker_kinds: dict[str, OperatorKind]
) -> Iterator[PlanError]:
    what = f"{operator.kind} {operator.name}"
    if operator.traits.stream is StreamUse.NONE:
        return
    if operator.stream is None:
        yield _invalid(operator.name, f"{what} names no stream", f"name the stream of {operator.name}")
    elif operator.cuts:
        if maker_kinds[operator.stream] is not operator.kind:
            yield _invalid(
                operator.name,
                f"{what} makes stream {operator.stream}, which a {maker_kinds[operator.stream]} makes too",
                "give each its own stream: one is split among tasks, the other whole in every task",
            )
    elif operator.stream not in graph.streams and operator.stream not in maker_kinds:
        yield _invalid(
            operator.name,
            f"{what} names stream {operator.stream}, and there is no such stream",
            f"declare {operator.stream} among the streams",
        )


def _tables(graph: Graph, operator: OperatorNode) -> Iterator[PlanError]:
    what = f"{operator.kind} {operator.name}"
    if len(operator.tables) < operator.traits.least_tables:
        yield _invalid(operator.name, f"{what} names no table", f"name the table of {operator.name}")
    for name in sorted(set(operator.tables)):
        table = graph.tables.get(name)
        if table is None:
            yield _invalid(
                operator.name,
                f"{what} names table {name}, and there is no such table",
                f"declare {name} among the tables",
            )
        elif operator.traits.fills_tables and table.broadcast:
            yield _invalid(
                operator.name,
                f"{what} writes to table {name}, which is broadcast: no task holds it alone",
                f"fill {name} from a side input, or make it a local table",
            )
        elif operator.traits.fills_tables and table.side_inputs:
            yield _invalid(
                operator.name,
                f"{what} writes to table {name}, which is filled from {', '.join(table.side_inputs)}",
                f"take the side inputs from {name}, or write to a separate table",
            )


def _side_inputs(graph: Graph, name: str, maker_kinds: dict[str, OperatorKind]) -> Iterator[PlanError]:
    for stream in sorted(set(graph.tables[name].side_inputs)):
        if stream not in graph.streams and stream not in maker_kinds:
            yield _invalid(
                None,
                f"table {name} is filled from {stream}, and there is no such stream",
                f"declare {stream} among the streams",
            )


def _made(graph: Graph) -> dict[str, OperatorKind]:
    """The kind of the first operator, by name, that makes each intermediate stream."""
    maker_kinds: dict[str, OperatorKind] = {}
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        if operator.cuts and operator.stream is not None:
            maker_kinds.setdefault(operator.stream, operator.kind)
    return maker_kinds


def _invalid(operator: str | None, message: str, hint: str) -> PlanError:
    return PlanError(Reason.INVALID_GRAPH, operator, (), message, hint)

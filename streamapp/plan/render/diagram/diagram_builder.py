"""Builds the diagram of a graph and its plan."""

from collections.abc import Iterator, Mapping
from itertools import chain

from streamapp.graph.lineage import lineages
from streamapp.graph.nodes import Graph, OperatorNode, TableNode
from streamapp.plan.partition_plan import Plan, PlannedJoin, PlannedStream, Role
from streamapp.plan.render.diagram.elements import (
    Diagram,
    Edge,
    EdgeKind,
    ErrorRole,
    Node,
    NodeKey,
    Shape,
    operator_key,
    output_key,
    stream_key,
    table_key,
)
from streamapp.plan.render.diagram.error_highlights import (
    deviating_streams,
    error_role_by_node,
    failing_edges,
)
from streamapp.plan.render.diagram.partition_spread import (
    NO_SPREAD,
    Spreads,
    partition_spreads,
    reads_table,
    writes_table,
)
from streamapp.plan.render.wording import ROLES, legible, listed, partitions
from streamapp.spec.reasons import Reason


def group_members(graph: Graph, plan: Plan) -> Mapping[str, frozenset[NodeKey]]:
    """For each join the nodes of its group; nodes without a constraint are left out."""
    streams = {join.operator: join.streams for join in plan.joins}
    nodes_of = {name: _member_nodes(graph, operator) for name, operator in graph.operators.items()}
    return {
        join: frozenset(chain(map(stream_key, streams[join]), *(nodes_of[name] for name in operators)))
        for join, operators in lineages(graph, streams).items()
    }


def _member_nodes(graph: Graph, operator: OperatorNode) -> list[NodeKey]:
    """The nodes that an operator adds to a group: its tables and, unless it is an input, itself."""
    if operator.is_input:
        return []
    read_tables = operator.tables if operator.traits.reads_tables else ()
    tables = [name for name in read_tables if name in graph.tables and graph.tables[name].partitioned]
    return [operator_key(operator), *(NodeKey("table", name) for name in tables)]


_MOST_NAMED = 12  # streams of a group that a node's tooltip names
_Link = tuple[NodeKey, NodeKey, EdgeKind, str]


def build_diagram(graph: Graph, plan: Plan) -> Diagram:
    """The diagram, in an order independent of the declaration's: equal apps have equal diagrams."""
    links = list(dict.fromkeys(_links(graph, partition_spreads(graph, plan))))
    nodes = _nodes(graph, plan)
    for source, target, _, _ in links:
        for key in (source, target):
            nodes.setdefault(key, _missing(key.name))
    number_of = {key: number for number, key in enumerate(nodes)}
    groups = {
        number_of[NodeKey("operator", join)]: frozenset(number_of[key] for key in keys if key in number_of)
        for join, keys in group_members(graph, plan).items()
    }
    ends = [(number_of[source], number_of[target]) for source, target, _, _ in links]
    failing = _failing_edges(plan, ends, groups, number_of)
    edges = tuple(
        Edge(source, target, flow, label, (source, target) in failing)
        for (source, target), (_, _, flow, label) in zip(ends, links, strict=True)
    )
    return Diagram(tuple(nodes.values()), edges, groups)


def _nodes(graph: Graph, plan: Plan) -> dict[NodeKey, Node]:
    error_roles = error_role_by_node(graph, plan)
    joins = {join.operator: join for join in plan.joins}
    makers = {operator.stream: operator.name for operator in graph.operators.values() if operator.cuts}
    nodes: dict[NodeKey, Node] = {}
    for stream in plan.streams.values():
        key = stream_key(stream.name)
        nodes[key] = _stream(stream, makers.get(stream.name), error_roles.get(key, ErrorRole.NONE))
    for name in sorted(graph.operators):
        key = operator_key(graph.operators[name])
        if key.of == "operator":
            error_role = error_roles.get(key, ErrorRole.NONE)
            nodes[key] = _operator(graph.operators[name], joins.get(name), plan, error_role)
    for name in sorted(graph.tables):
        nodes[NodeKey("table", name)] = _table(graph.tables[name])
    return nodes


def _stream(stream: PlannedStream, maker: str | None, error_role: ErrorRole) -> Node:
    is_intermediate = stream.role is Role.INTERMEDIATE
    name, system_text = legible(stream.name), f" · {legible(stream.system)}" if stream.system else ""
    # The name of an intermediate stream begins with the app's name, which all of the app's streams share.
    short = legible(maker) if maker is not None else ""
    count = "?" if stream.partitions is None else str(stream.partitions)
    return Node(
        name=name,
        shown=f"….{short}" if short and name.endswith(f".{short}") else name,
        shape=Shape.INTERMEDIATE if is_intermediate else Shape.STREAM,
        kind=f"{ROLES[stream.role]}{system_text}",
        badge=f"all {count}" if stream.broadcast else count,
        description=f"{ROLES[stream.role]} stream {name}: {partitions(stream.partitions)}, "
        f"{legible(stream.because.sentence)}{', whole to every task' if stream.broadcast else ''}",
        error_role=error_role,
    )


def _operator(operator: OperatorNode, join: PlannedJoin | None, plan: Plan, error_role: ErrorRole) -> Node:
    name, badge, description = legible(operator.name), "", f"{operator.kind} {legible(operator.name)}"
    if join is not None and join.streams:
        counts = sorted({plan.streams[stream].partitions or 0 for stream in join.streams} - {0})
        badge = " ≠ ".join(map(str, counts[:3])) if len(counts) > 1 else str(join.partitions or "?")
        group = [
            f"{legible(stream)} ({partitions(plan.streams[stream].partitions)})" for stream in join.streams
        ]
        description = f"{description}: needs one partition count of {listed(group, _MOST_NAMED)}"
    shape = Shape.OPERATOR if join is None else Shape.JOIN
    return Node(name, name, shape, str(operator.kind), badge, description, error_role)


def _table(table: TableNode) -> Node:
    kind = "remote table" if table.remote else "broadcast table" if table.broadcast else "table"
    name = legible(table.name)
    return Node(name, name, Shape.TABLE, kind, "", f"{kind} {name}", ErrorRole.NONE)


def _missing(name: str) -> Node:
    shown = legible(name)
    return Node(
        shown, shown, Shape.MISSING, "not declared", "", f"{shown} is not declared", ErrorRole.FAILING
    )


def _links(graph: Graph, spread: Spreads) -> Iterator[_Link]:
    """Every edge with a count: the count of the stream at one of its ends, else the count of its rows."""
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        key = operator_key(operator)
        for source in operator.inputs:
            yield output_key(graph, source), key, EdgeKind.ROWS, _carried_label(graph, spread, source)
        if operator.stream is not None and not operator.is_input:
            label = spread.streams.get(operator.stream, NO_SPREAD).label
            yield key, stream_key(operator.stream), EdgeKind.ROWS, label
        for table in operator.tables:
            if writes_table(operator, table):
                yield key, table_key(graph, table), EdgeKind.TABLE, spread.operators[name].label
            if reads_table(operator, table):
                label = spread.tables.get(table, NO_SPREAD).label
                yield table_key(graph, table), key, EdgeKind.TABLE, label
    for name in sorted(graph.tables):
        for side_input in graph.tables[name].side_inputs:
            label = spread.streams.get(side_input, NO_SPREAD).label
            yield stream_key(side_input), NodeKey("table", name), EdgeKind.SIDE, label


def _carried_label(graph: Graph, spread: Spreads, name: str) -> str:
    operator = graph.operators.get(name)
    if operator is not None and operator.cuts and operator.stream is not None:
        return spread.streams.get(operator.stream, NO_SPREAD).label
    return spread.operators.get(name, NO_SPREAD).label


def _failing_edges(
    plan: Plan,
    ends: list[tuple[int, int]],
    groups: Mapping[int, frozenset[int]],
    number_of: Mapping[NodeKey, int],
) -> set[tuple[int, int]]:
    failing: set[tuple[int, int]] = set()
    for error in plan.errors:
        if error.reason is Reason.JOIN_PARTITION_MISMATCH and error.operator is not None:
            join = number_of[NodeKey("operator", error.operator)]
            deviating = [number_of[stream_key(name)] for name in deviating_streams(error)]
            failing |= failing_edges(ends, groups[join], deviating, join)
    return failing

"""From a graph and its plan to the picture of both."""

from collections.abc import Iterator, Mapping

from streamapp.graph.nodes import Graph, Kind, Operator, Table
from streamapp.plan.plan import Plan, PlannedJoin, PlannedStream, Role
from streamapp.plan.render.group_members import group_members
from streamapp.plan.render.names import legible
from streamapp.plan.render.picture import Edge, Flow, Node, Picture, Shape, Trouble
from streamapp.plan.render.spread import NOTHING, Spreads, reads, spreads, writes
from streamapp.plan.render.stand_ins import Key, operator_key, output_key, stream_key, table_key
from streamapp.plan.render.trouble import odd_streams, on_the_way, troubles
from streamapp.plan.render.words import ROLES, partitions
from streamapp.spec.reasons import Reason

_TOLD = 12  # streams of a group that a node's tooltip names
_Link = tuple[Key, Key, Flow, str]


def picture(graph: Graph, plan: Plan) -> Picture:
    """All there is to draw, in an order that is not the declaration's: equal apps have equal pictures."""
    links = list(dict.fromkeys(_links(graph, spreads(graph, plan))))
    nodes = _nodes(graph, plan)
    for source, target, _, _ in links:
        for key in (source, target):
            nodes.setdefault(key, _missing(key.name))
    number_of = {key: number for number, key in enumerate(nodes)}
    groups = {
        number_of[Key("operator", join)]: frozenset(number_of[key] for key in keys if key in number_of)
        for join, keys in group_members(graph, plan).items()
    }
    ends = [(number_of[source], number_of[target]) for source, target, _, _ in links]
    red = _failing_edges(plan, ends, groups, number_of)
    edges = tuple(
        Edge(source, target, flow, label, (source, target) in red)
        for (source, target), (_, _, flow, label) in zip(ends, links, strict=True)
    )
    return Picture(tuple(nodes.values()), edges, groups)


def _nodes(graph: Graph, plan: Plan) -> dict[Key, Node]:
    wrong = troubles(graph, plan)
    joins = {join.operator: join for join in plan.joins}
    makers = {operator.stream: operator.name for operator in graph.operators.values() if operator.cuts}
    nodes: dict[Key, Node] = {}
    for stream in plan.streams.values():
        key = stream_key(stream.name)
        nodes[key] = _stream(stream, makers.get(stream.name), wrong.get(key, Trouble.NONE))
    for name in sorted(graph.operators):
        key = operator_key(graph.operators[name])
        if key.of == "operator":
            trouble = wrong.get(key, Trouble.NONE)
            nodes[key] = _operator(graph.operators[name], joins.get(name), plan, trouble)
    for name in sorted(graph.tables):
        nodes[Key("table", name)] = _table(graph.tables[name])
    return nodes


def _stream(stream: PlannedStream, maker: str | None, trouble: Trouble) -> Node:
    made = stream.role is Role.INTERMEDIATE
    name, where = legible(stream.name), f" · {legible(stream.system)}" if stream.system else ""
    # The stream that `by-user` makes is named after the app too, which is the same for all of them.
    short = legible(maker) if maker is not None else ""
    count = "?" if stream.partitions is None else str(stream.partitions)
    return Node(
        name=name,
        shown=f"….{short}" if short and name.endswith(f".{short}") else name,
        shape=Shape.INTERMEDIATE if made else Shape.STREAM,
        kind=f"{ROLES[stream.role]}{where}",
        badge=f"all {count}" if stream.broadcast else count,
        says=f"{ROLES[stream.role]} stream {name}: {partitions(stream.partitions)}, "
        f"{legible(stream.because.sentence)}{', whole to every task' if stream.broadcast else ''}",
        trouble=trouble,
    )


def _operator(operator: Operator, join: PlannedJoin | None, plan: Plan, trouble: Trouble) -> Node:
    name, badge, says = legible(operator.name), "", f"{operator.kind} {legible(operator.name)}"
    if join is not None and join.streams:
        counts = sorted({plan.streams[stream].partitions or 0 for stream in join.streams} - {0})
        badge = " ≠ ".join(map(str, counts[:3])) if len(counts) > 1 else str(join.partitions or "?")
        group = ", ".join(
            f"{legible(stream)} ({partitions(plan.streams[stream].partitions)})"
            for stream in join.streams[:_TOLD]
        )
        more = f" and {len(join.streams) - _TOLD} more" if len(join.streams) > _TOLD else ""
        says = f"{says}: needs one partition count of {group}{more}"
    shape = Shape.OPERATOR if join is None else Shape.JOIN
    return Node(name, name, shape, str(operator.kind), badge, says, trouble)


def _table(table: Table) -> Node:
    kind = "remote table" if table.remote else "broadcast table" if table.broadcast else "table"
    name = legible(table.name)
    return Node(name, name, Shape.TABLE, kind, "", f"{kind} {name}", Trouble.NONE)


def _missing(name: str) -> Node:
    shown = legible(name)
    return Node(shown, shown, Shape.MISSING, "not declared", "", f"{shown} is not declared", Trouble.FAILING)


def _links(graph: Graph, spread: Spreads) -> Iterator[_Link]:
    """Every edge with its count: that of the stream at one of its ends, else that of the rows it carries."""
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        key = operator_key(operator)
        for given in operator.inputs:
            yield output_key(graph, given), key, Flow.ROWS, _carried(graph, spread, given)
        if operator.stream is not None and operator.kind is not Kind.INPUT:
            label = spread.streams.get(operator.stream, NOTHING).label
            yield key, stream_key(operator.stream), Flow.ROWS, label
        for table in operator.tables:
            if writes(operator, table):
                yield key, table_key(graph, table), Flow.TABLE, spread.operators[name].label
            if reads(operator, table):
                label = spread.tables.get(table, NOTHING).label
                yield table_key(graph, table), key, Flow.TABLE, label
    for name in sorted(graph.tables):
        for side in graph.tables[name].side_inputs:
            label = spread.streams.get(side, NOTHING).label
            yield stream_key(side), Key("table", name), Flow.SIDE, label


def _carried(graph: Graph, spread: Spreads, name: str) -> str:
    operator = graph.operators.get(name)
    if operator is not None and operator.cuts and operator.stream is not None:
        return spread.streams.get(operator.stream, NOTHING).label
    return spread.operators.get(name, NOTHING).label


def _failing_edges(
    plan: Plan,
    ends: list[tuple[int, int]],
    groups: Mapping[int, frozenset[int]],
    number_of: Mapping[Key, int],
) -> set[tuple[int, int]]:
    red: set[tuple[int, int]] = set()
    for error in plan.errors:
        if error.reason is Reason.JOIN_PARTITION_MISMATCH and error.operator is not None:
            join = number_of[Key("operator", error.operator)]
            odd = [number_of[stream_key(name)] for name in odd_streams(error)]
            red |= on_the_way(ends, groups[join], odd, join)
    return red

"""What belongs to each join's group in a picture: its streams, and all between them and the join."""

from collections.abc import Mapping

from streamapp.graph.lineage import lineages
from streamapp.graph.nodes import Graph, Kind
from streamapp.plan.plan import Plan
from streamapp.plan.render.stand_ins import Key, operator_key, stream_key


def group_members(graph: Graph, plan: Plan) -> Mapping[str, frozenset[Key]]:
    """For each join the nodes of its group. What constrains nothing is not in it."""
    streams = {join.operator: join.streams for join in plan.joins}
    return {
        join: frozenset([*map(stream_key, streams[join]), *_between(graph, operators)])
        for join, operators in lineages(graph, streams).items()
    }


def _between(graph: Graph, operators: tuple[str, ...]) -> list[Key]:
    keys: list[Key] = []
    for name in operators:
        operator = graph.operators[name]
        if operator.kind is not Kind.INPUT:
            keys.append(operator_key(operator))
        if operator.kind is not Kind.SEND_TO_TABLE:
            read = [graph.tables[table] for table in operator.tables if table in graph.tables]
            keys += [Key("table", table.name) for table in read if table.partitioned]
    return keys

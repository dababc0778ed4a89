"""What belongs to each join's group in a picture: its streams, and all between them and the join."""

from collections.abc import Mapping
from itertools import chain

from streamapp.graph.lineage import lineages
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import Plan
from streamapp.plan.render.diagram.node_keys import NodeKey, operator_key, stream_key


def group_members(graph: Graph, plan: Plan) -> Mapping[str, frozenset[NodeKey]]:
    """For each join the nodes of its group. What constrains nothing is not in it."""
    streams = {join.operator: join.streams for join in plan.joins}
    brought = {name: _brought(graph, operator) for name, operator in graph.operators.items()}
    return {
        join: frozenset(chain(map(stream_key, streams[join]), *(brought[name] for name in operators)))
        for join, operators in lineages(graph, streams).items()
    }


def _brought(graph: Graph, operator: OperatorNode) -> list[NodeKey]:
    """The nodes that an operator brings along: itself, unless a stream stands for it, and its tables."""
    if operator.is_input:
        return []
    read = operator.tables if operator.traits.reads_tables else ()
    tables = [name for name in read if name in graph.tables and graph.tables[name].partitioned]
    return [operator_key(operator), *(NodeKey("table", name) for name in tables)]

"""The members of each join's group in a diagram: its streams, and all nodes between them and the join."""

from collections.abc import Mapping
from itertools import chain

from streamapp.graph.lineage import lineages
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.partition_plan import Plan
from streamapp.plan.render.diagram.node_keys import NodeKey, operator_key, stream_key


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

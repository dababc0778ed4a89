"""Which operators carry a join's group to it: what a picture marks when the join is pointed at."""

from collections.abc import Iterable

from streamapp.graph.nodes import Graph
from streamapp.graph.wiring import wire


def lineages(graph: Graph, joins: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each join the operators, itself among them, on the ways from its group's streams to it, sorted."""
    wiring = wire(graph)
    vertex_of = {name: number for number, name in enumerate(wiring.operators)}
    lineage_of: dict[str, tuple[str, ...]] = {}
    for join in joins:
        reached = {vertex_of[join]}
        waiting = [vertex_of[join]]
        while waiting:
            for earlier in wiring.before[waiting.pop()]:
                if earlier not in reached:
                    reached.add(earlier)
                    waiting.append(earlier)
        count = len(wiring.operators)
        lineage_of[join] = tuple(wiring.operators[vertex] for vertex in sorted(reached) if vertex < count)
    return lineage_of

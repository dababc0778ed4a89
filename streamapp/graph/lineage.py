"""The operators that carry a join's group to it: what a picture marks when the join is pointed at."""

from bisect import bisect_left
from collections.abc import Iterable

from streamapp.graph.nodes import Graph
from streamapp.graph.wiring import Wiring, wire


def lineages(graph: Graph, joins: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each join the operators, itself among them, on the ways from its group's streams to it, sorted."""
    wiring = wire(graph)
    return {join: lineage(wiring, join) for join in joins}


def lineage(wiring: Wiring, join: str) -> tuple[str, ...]:
    """The operators, the join among them, on the ways from its group's streams to it, sorted."""
    count = len(wiring.operators)
    first = bisect_left(wiring.operators, join)
    reached = {first}
    waiting = [first]
    while waiting:
        for earlier in wiring.before[waiting.pop()]:
            if earlier not in reached:
                reached.add(earlier)
                waiting.append(earlier)
    return tuple(wiring.operators[vertex] for vertex in sorted(reached) if vertex < count)

"""Operators that wait for each other's rows. Only a table may close a ring: it keeps what it was given."""

from streamapp.graph.components import strong_components
from streamapp.graph.nodes import Graph


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The operators of each ring of inputs, sorted; a partitionBy between them does not open it."""
    names = sorted(graph.operators)
    vertex_of = {name: number for number, name in enumerate(names)}
    before = [
        [vertex_of[source] for source in graph.operators[name].inputs if source in vertex_of]
        for name in names
    ]
    return sorted(
        tuple(names[vertex] for vertex in sorted(part))
        for part in strong_components(before)
        if len(part) > 1 or part[0] in before[part[0]]
    )

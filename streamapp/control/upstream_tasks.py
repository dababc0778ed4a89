"""Which tasks write to an intermediate stream: those that own a partition of a source that reaches it."""

from collections.abc import Collection, Iterable, Mapping

from streamapp.graph.nodes import Graph, Kind
from streamapp.tasks.partition import Partition


def sources_reaching(graph: Graph) -> dict[str, tuple[str, ...]]:
    """For each intermediate stream the streams whose rows reach it, with no other intermediate one between.

    Rows do not pass through a table: who fills it says nothing about the rows that look something up in it.
    """
    found: dict[str, set[str]] = {}
    for operator in graph.operators.values():
        if operator.cuts and operator.stream is not None:
            found.setdefault(operator.stream, set()).update(_sources(graph, operator.inputs))
    return {stream: tuple(sorted(sources)) for stream, sources in sorted(found.items())}


def readers(assignment: Mapping[str, Iterable[Partition]]) -> dict[str, set[str]]:
    """For each stream the tasks that own a partition of it, broadcast ones included."""
    found: dict[str, set[str]] = {}
    for task, partitions in assignment.items():
        for partition in partitions:
            found.setdefault(partition.stream, set()).add(task)
    return found


def upstream_tasks(
    reaching: Mapping[str, Collection[str]], readers: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """For each intermediate stream its upstream tasks, each of which writes to all of its partitions."""
    return {
        stream: tuple(sorted({task for source in sources for task in readers.get(source, ())}))
        for stream, sources in reaching.items()
    }


def _sources(graph: Graph, names: Iterable[str]) -> set[str]:
    sources: set[str] = set()
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        operator = graph.operators.get(name)
        if operator is None or name in seen:
            continue
        seen.add(name)
        if operator.kind is Kind.INPUT or operator.cuts:
            sources.update(() if operator.stream is None else (operator.stream,))
        else:
            waiting.extend(operator.inputs)
    return sources

"""An app's parts between its intermediate streams: what a task runs without a stream in between."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from streamapp.graph.nodes import Graph
from streamapp.graph.wiring import Wiring, streams_read, wire


@dataclass(frozen=True, slots=True)
class Stage:
    """Operators that run in the same tasks, the streams they read and those they write; all sorted."""

    operators: tuple[str, ...]
    sources: tuple[str, ...]
    sinks: tuple[str, ...]


def stages(graph: Graph) -> tuple[Stage, ...]:
    """All stages, each after those whose streams it reads, else by the name of their first operator."""
    wiring = wire(graph)
    count = len(wiring.operators)
    parts = (
        tuple(wiring.operators[vertex] for vertex in part if vertex < count) for part in _connected(wiring)
    )
    return tuple(_in_order([_stage(graph, part) for part in parts if part]))


def _connected(wiring: Wiring) -> list[list[int]]:
    """Vertices that hand each other rows, share a table or read the same stream, smallest vertex first."""
    vertices = len(wiring.before)
    beside: list[list[int]] = [[] for _ in range(vertices + len(wiring.streams))]
    for vertex, earlier in enumerate(wiring.before):
        for other in (*earlier, *(vertices + stream for stream in wiring.reads[vertex])):
            beside[vertex].append(other)
            beside[other].append(vertex)
    visited = [False] * len(beside)
    parts: list[list[int]] = []
    for root in range(vertices):
        if visited[root]:
            continue
        visited[root] = True
        part = [root]
        for vertex in part:
            for other in beside[vertex]:
                if not visited[other]:
                    visited[other] = True
                    part.append(other)
        parts.append(sorted(vertex for vertex in part if vertex < vertices))
    return parts


def _stage(graph: Graph, names: Sequence[str]) -> Stage:
    sources: set[str] = set()
    sinks: set[str] = set()
    for name in names:
        operator = graph.operators[name]
        sources.update(streams_read(graph, operator))
        for table in operator.tables:
            if table in graph.tables:
                sources.update(graph.tables[table].side_inputs)
        if operator.stream is not None and not operator.is_input:
            sinks.add(operator.stream)
    return Stage(tuple(names), tuple(sorted(sources)), tuple(sorted(sinks)))


def _in_order(graph_stages: Sequence[Stage]) -> Iterator[Stage]:
    """Stages by their first operator's name, but after what they read; those in a ring come last."""
    writers: dict[str, list[int]] = {}
    for number, stage in enumerate(graph_stages):
        for stream in stage.sinks:
            writers.setdefault(stream, []).append(number)
    after: list[list[int]] = [[] for _ in graph_stages]
    missing = [0] * len(graph_stages)
    for number, stage in enumerate(graph_stages):
        for earlier in _earlier(stage, number, writers):
            after[earlier].append(number)
            missing[number] += 1
    # Stages are found in the order of their first operators, so their numbers are that order.
    ready = [number for number, count in enumerate(missing) if count == 0]
    heapify(ready)
    while ready:
        number = heappop(ready)
        yield graph_stages[number]
        for later in after[number]:
            missing[later] -= 1
            if missing[later] == 0:
                heappush(ready, later)
    yield from (stage for stage, count in zip(graph_stages, missing, strict=True) if count)


def _earlier(stage: Stage, number: int, writers: dict[str, list[int]]) -> Iterable[int]:
    return {writer for stream in stage.sources for writer in writers.get(stream, ()) if writer != number}

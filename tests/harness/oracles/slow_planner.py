"""The same answers in the slowest way: a walk from each stream, and every assignment of counts tried."""

from collections.abc import Iterator, Mapping
from itertools import product

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.spec.resource.operator_kinds import OperatorKind

Groups = dict[str, frozenset[str]]


def groups(graph: Graph) -> Groups:
    found: dict[str, set[str]] = {
        operator.name: set(_sides(graph, operator))
        for operator in graph.operators.values()
        if operator.kind in {OperatorKind.JOIN, OperatorKind.AGGREGATE}
        or (operator.kind in {OperatorKind.JOIN_TABLE, OperatorKind.PROCESS} and _local(graph, operator))
    }
    for stream in _sources(graph):
        reached: set[str] = set()
        for operator in graph.operators.values():
            if _reads(graph, operator, stream):
                _walk(graph, operator, reached)
        for name in reached & found.keys():
            found[name].add(stream)
    return {name: frozenset(streams) for name, streams in found.items()}


def _walk(graph: Graph, operator: OperatorNode, reached: set[str]) -> None:
    if operator.name in reached:
        return
    reached.add(operator.name)
    if operator.kind is OperatorKind.PARTITION_BY:
        return
    for other in graph.operators.values():
        written = (
            _local(graph, operator)
            if operator.kind in {OperatorKind.SEND_TO_TABLE, OperatorKind.PROCESS}
            else set()
        )
        read = (
            _local(graph, other) if other.kind in {OperatorKind.JOIN_TABLE, OperatorKind.PROCESS} else set()
        )
        if operator.name in other.inputs or written & read:
            _walk(graph, other, reached)


def _reads(graph: Graph, operator: OperatorNode, stream: str) -> bool:
    makers = {
        name
        for name, maker in graph.operators.items()
        if maker.kind is OperatorKind.PARTITION_BY and maker.stream == stream
    }
    return (operator.kind is OperatorKind.INPUT and operator.stream == stream) or bool(
        makers & set(operator.inputs)
    )


def _sources(graph: Graph) -> set[str]:
    read = {
        operator.stream
        for operator in graph.operators.values()
        if operator.kind in {OperatorKind.INPUT, OperatorKind.PARTITION_BY}
    }
    return {name for name in read if name and not (name in graph.streams and graph.streams[name].broadcast)}


def _local(graph: Graph, operator: OperatorNode) -> set[str]:
    tables = (graph.tables[name] for name in operator.tables)
    return {table.name for table in tables if not table.remote and not table.broadcast}


def _sides(graph: Graph, operator: OperatorNode) -> Iterator[str]:
    for name in _local(graph, operator):
        for side in graph.tables[name].side_inputs:
            if not graph.streams[side].broadcast:
                yield side


def solutions(wanted: Groups, known: Mapping[str, int], unknown: list[str]) -> list[dict[str, int]]:
    """Every assignment that meets all groups; a count that nothing mentions stands for any other."""
    anything = 999
    tried = product(sorted({*known.values(), anything}), repeat=len(unknown))
    every = [dict(known) | dict(zip(unknown, counts, strict=True)) for counts in tried]
    return [
        counts
        for counts in every
        if all(len({counts[stream] for stream in group}) <= 1 for group in wanted.values())
    ]

"""The streams that reach each join, and so must have one partition count."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from streamapp.graph.bit_sets import mask_of, members
from streamapp.graph.components import strong_components
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.graph.wiring import Wiring, wire
from streamapp.spec.resource.operator_kinds import Grouping


@dataclass(frozen=True, slots=True)
class JoinGroups:
    """The group of every join: a set over `streams` (see `members`), joins in the order of their names."""

    streams: tuple[str, ...]
    masks: Mapping[str, int]

    def members(self, join: str) -> tuple[str, ...]:
        """The streams of a join's group, sorted."""
        return members(self.masks[join], self.streams)

    def without(self, names: Iterable[str]) -> "JoinGroups":
        """The same groups, but for these streams."""
        left_out = set(names)
        if not left_out:
            return self
        remaining_streams = mask_of(
            number for number, name in enumerate(self.streams) if name not in left_out
        )
        return JoinGroups(self.streams, {join: mask & remaining_streams for join, mask in self.masks.items()})


def forms_group(graph: Graph, operator: OperatorNode) -> bool:
    """True if an operator groups keys, so that the streams whose rows reach it must agree."""
    match operator.traits.grouping:
        case Grouping.NEVER:
            return False
        case Grouping.THROUGH_TABLES:
            return any(graph.tables[name].partitioned for name in operator.tables if name in graph.tables)
        case Grouping.ALWAYS:
            return True
        case unknown:
            assert_never(unknown)


def reaching_streams(graph: Graph) -> Mapping[str, int]:
    """For each operator the set of streams whose records reach it."""
    wiring = wire(graph)
    return dict(zip(wiring.operators, _reaching(wiring), strict=False))  # behind the operators are tables


def join_groups(graph: Graph) -> JoinGroups:
    """The group of every operator that forms one."""
    wiring = wire(graph)
    reaching = _reaching(wiring)
    stream_of = {name: number for number, name in enumerate(wiring.streams)}
    masks: dict[str, int] = {}
    for vertex, name in enumerate(wiring.operators):
        operator = graph.operators[name]
        if forms_group(graph, operator):
            sides = mask_of(stream_of[side] for side in _side_inputs(graph, operator) if side in stream_of)
            masks[name] = reaching[vertex] | sides
    return JoinGroups(wiring.streams, masks)


def streams_before_state(graph: Graph) -> frozenset[str]:
    """The streams whose keys are tied to tasks: rows come from them to state without a stream in between."""
    wiring = wire(graph)
    reaching = _reaching(wiring)
    mask = 0
    for vertex, name in enumerate(wiring.operators):
        operator = graph.operators[name]
        if operator.traits.keeps_state or not set(wiring.tables).isdisjoint(operator.tables):
            mask |= reaching[vertex]
    sides = (side for name in wiring.tables for side in graph.tables[name].side_inputs)
    return frozenset(members(mask, wiring.streams)) | frozenset(sides)


def _reaching(wiring: Wiring) -> list[int]:
    """For each vertex the set of streams whose records reach it.

    Vertices on a cycle through a table are reached by the same streams: the cycle counts as one vertex, and
    one pass suffices over what is then free of cycles.
    """
    reaching = [0] * len(wiring.before)
    for part in strong_components(wiring.before):
        mask = 0
        for vertex in part:
            mask |= mask_of(wiring.reads[vertex])
            for earlier in wiring.before[vertex]:
                mask |= reaching[earlier]
        for vertex in part:
            reaching[vertex] = mask
    return reaching


def _side_inputs(graph: Graph, operator: OperatorNode) -> Iterator[str]:
    """Side inputs are read by no operator: they belong to the groups of the joins directly on their table."""
    for name in operator.tables:
        table = graph.tables.get(name)
        if table is not None and table.partitioned:
            yield from table.side_inputs

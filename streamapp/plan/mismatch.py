"""The last pass: does every join's group have one count? And where not, what would mend it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from streamapp.graph.groups import Groups
from streamapp.graph.members import lowest
from streamapp.graph.nodes import Graph
from streamapp.plan.because import Ground
from streamapp.plan.plan import PlanError, PlannedJoin, PlannedStream, Role
from streamapp.spec.reasons import Reason

_T = TypeVar("_T")
_SHOWN = 12  # streams of one count, or ways to mend, that a sentence can hold; the error's `streams` hold all
_FOLLOWS = (Ground.CONFIGURED, Ground.INFERRED)


def planned_joins(
    graph: Graph, groups: Groups, streams: Mapping[str, PlannedStream]
) -> Iterator[PlannedJoin]:
    """Every join with its streams, and their count when all have the same."""
    having: dict[int | None, int] = {}
    counts = [streams[name].partitions for name in groups.streams]
    for number, count in enumerate(counts):
        having[count] = having.get(count, 0) | 1 << number
    for join, mask in groups.masks.items():
        count = counts[lowest(mask)] if mask else None
        agreed = None if mask & ~having.get(count, 0) else count
        yield PlannedJoin(join, graph.operators[join].kind, groups.members(join), agreed)


def mismatches(
    graph: Graph, joins: Sequence[PlannedJoin], streams: Mapping[str, PlannedStream]
) -> Iterator[PlanError]:
    """One error for every join whose streams have different counts; a missing count is no different one."""
    for join in joins:
        if join.partitions is not None:
            continue
        counts = {streams[name].partitions for name in join.streams} - {None}
        if len(counts) > 1:
            members = [streams[name] for name in join.streams]
            yield PlanError(
                Reason.JOIN_PARTITION_MISMATCH,
                join.operator,
                tuple((stream.name, stream.partitions) for stream in members),
                _message(graph, join, members),
                _hint(graph, join, members),
            )


def _message(graph: Graph, join: PlannedJoin, members: Sequence[PlannedStream]) -> str:
    by_count: dict[int, list[PlannedStream]] = {}
    for stream in members:
        if stream.partitions is not None:
            by_count.setdefault(stream.partitions, []).append(stream)
    having = _few(sorted(by_count.items()), _have, "; ")
    tables = graph.operators[join.operator].tables
    on = f" on table {', '.join(tables)}" if tables else ""
    return f"{join.kind} {join.operator}{on} needs streams of one partition count, but {having}"


def _have(having: tuple[int, Sequence[PlannedStream]]) -> str:
    count, streams = having
    return f"{_few(streams, _with_ground, ', ')} {'have' if len(streams) > 1 else 'has'} {count}"


def _with_ground(stream: PlannedStream) -> str:
    return (
        stream.name if stream.because.kind is Ground.KNOWN else f"{stream.name} ({stream.because.sentence})"
    )


def _hint(graph: Graph, join: PlannedJoin, members: Sequence[PlannedStream]) -> str:
    fixed = [
        stream for stream in members if stream.because.kind not in _FOLLOWS and stream.partitions is not None
    ]
    target = _target(fixed)
    off = [stream for stream in fixed if stream.partitions != target]
    mends = _few(off, lambda stream: _mend(join, stream, target), "; ")
    sides = {stream.name for stream in fixed if stream.role is Role.SIDE_INPUT}
    tables = [name for name in graph.operators[join.operator].tables if sides & set(_sides(graph, name))]
    if not tables:
        return mends
    return f"{mends}; or make table {', '.join(tables)} broadcast, so that its side inputs constrain nothing"


def _target(fixed: Sequence[PlannedStream]) -> int:
    """The count to mend towards: a side input's, for it cannot be repartitioned, else the largest.

    A stream can be given more partitions, and never fewer.
    """
    sides = [stream.partitions or 0 for stream in fixed if stream.role is Role.SIDE_INPUT]
    return max(sides or [stream.partitions or 0 for stream in fixed])


def _mend(join: PlannedJoin, stream: PlannedStream, target: int) -> str:
    name = stream.name
    if stream.role is Role.SIDE_INPUT:
        return f"give {name} {target} partitions"
    if stream.because.kind is Ground.EXPLICIT:
        return f"set partitions: {target} on {stream.because.operator}, or leave it out"
    if stream.role is Role.INTERMEDIATE:
        return f"repartition {name} with one more partitionBy before {join.operator}"
    repartition = f"repartition {name} with partitionBy before {join.operator}"
    grows = stream.partitions is not None and stream.partitions < target
    return f"{repartition}, or give {name} {target} partitions" if grows else repartition


def _sides(graph: Graph, table: str) -> tuple[str, ...]:
    return graph.tables[table].side_inputs if table in graph.tables else ()


def _few(things: Sequence[_T], say: Callable[[_T], str], between: str) -> str:
    more = len(things) - _SHOWN
    shown = between.join(say(thing) for thing in things[:_SHOWN])
    return f"{shown}{between}and {more} more" if more > 0 else shown

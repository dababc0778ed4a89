"""The last pass: every join whose streams have different counts, and what would mend it."""

from collections.abc import Callable, Iterator
from itertools import islice

from streamapp.graph.bit_sets import members, numbers_in
from streamapp.graph.join_groups import JoinGroups
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.count_reason import CountSource
from streamapp.plan.group_counts import GroupCounts
from streamapp.plan.partition_plan import PlanError, PlannedStream, Role
from streamapp.spec.reasons import Reason

_SHOWN = 12  # counts, or streams of one, that a sentence can hold; the error's `streams` hold all


def mismatches(graph: Graph, groups: JoinGroups, counted: GroupCounts) -> Iterator[PlanError]:
    """One error for every join of different counts; a count that nobody knows is no different one."""
    pairs = [(stream.name, stream.partitions) for stream in counted.streams]
    for join, group in groups.masks.items():
        if counted.agreed(group) is None and len(counted.by_count(group)) > 1:
            operator = graph.operators[join]
            yield PlanError(
                Reason.JOIN_PARTITION_MISMATCH,
                join,
                members(group, pairs),
                _message(operator, group, counted),
                _hint(graph, operator, group, counted),
            )


def _message(operator: OperatorNode, group: int, counted: GroupCounts) -> str:
    by_count = counted.by_count(group)
    having = [_have(count, streams, counted) for count, streams in islice(by_count.items(), _SHOWN)]
    if len(by_count) > _SHOWN:
        having.append(f"and {len(by_count) - _SHOWN} more counts")
    on = f" on table {', '.join(operator.tables)}" if operator.tables else ""
    needs = f"{operator.kind} {operator.name}{on} needs streams of one partition count"
    return f"{needs}, but {'; '.join(having)}"


def _have(count: int, streams: int, counted: GroupCounts) -> str:
    verb = "has" if streams.bit_count() == 1 else "have"
    return f"{_few(streams, counted, _with_ground, ', ')} {verb} {count}"


def _with_ground(stream: PlannedStream) -> str:
    return (
        stream.name
        if stream.because.kind is CountSource.KNOWN
        else f"{stream.name} ({stream.because.sentence})"
    )


def _hint(graph: Graph, operator: OperatorNode, group: int, counted: GroupCounts) -> str:
    fixed = group & counted.fixed
    sides = fixed & counted.side_inputs
    # A side input cannot be repartitioned, so others go by it; else by the largest, for streams only grow.
    target = max(counted.by_count(sides) or counted.by_count(fixed))
    off = fixed & ~counted.having[target] & ~counted.having.get(None, 0)
    mends = _few(off, counted, lambda stream: _mend(operator, stream, target), "; ")
    if not sides:
        return mends
    tables = [name for name in operator.tables if name in graph.tables and graph.tables[name].side_inputs]
    return f"{mends}; or make table {', '.join(tables)} broadcast, so that its side inputs constrain nothing"


def _mend(operator: OperatorNode, stream: PlannedStream, target: int) -> str:
    grow = f"give {stream.name} {target} partitions"
    if stream.role is Role.SIDE_INPUT:
        return grow
    if stream.because.kind is CountSource.EXPLICIT:
        return f"set partitions: {target} on {stream.because.operator}, or leave it out"
    if stream.role is Role.INTERMEDIATE:
        return f"repartition {stream.name} with one more partitionBy before {operator.name}"
    repartition = f"repartition {stream.name} with partitionBy before {operator.name}"
    return f"{repartition}, or {grow}" if (stream.partitions or 0) < target else repartition


def _few(streams: int, counted: GroupCounts, say: Callable[[PlannedStream], str], between: str) -> str:
    shown = [say(counted.streams[number]) for number in islice(numbers_in(streams), _SHOWN)]
    more = streams.bit_count() - len(shown)
    return between.join([*shown, f"and {more} more"] if more else shown)

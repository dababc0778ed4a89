"""Joins whose streams have different counts, found in the last pass and told with what would fix them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from streamapp.graph.bit_sets import members, numbers_in
from streamapp.graph.join_groups import JoinGroups
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.count_reason import CountSource
from streamapp.plan.graph_changes import Hint, alternatives
from streamapp.plan.group_counts import GroupCounts
from streamapp.plan.partition_plan import PlanError, PlannedStream
from streamapp.spec.reasons import Reason

_SHOWN = 12  # counts, or streams of one, that a sentence can hold; the error's `streams` hold all


def failing_joins(groups: JoinGroups, counted: GroupCounts) -> Iterator[str]:
    """The joins of different counts; a count that nobody knows is no different one."""
    for join, group in groups.masks.items():
        if counted.agreed(group) is None and len(counted.by_count(group)) > 1:
            yield join


def mismatches(
    graph: Graph, groups: JoinGroups, counted: GroupCounts, hints: Mapping[str, Sequence[Hint]]
) -> Iterator[PlanError]:
    """One error for every join that fails, with the hints that were found for it."""
    pairs = [(stream.name, stream.partitions) for stream in counted.streams]
    mendable = [join for join, join_hints in hints.items() if join_hints]
    for join, join_hints in hints.items():
        yield PlanError(
            Reason.JOIN_PARTITION_MISMATCH,
            join,
            members(groups.masks[join], pairs),
            _message(graph.operators[join], groups.masks[join], counted),
            alternatives(join_hints) if join_hints else _without_hint(join, mendable),
            tuple(join_hints),
        )


def _without_hint(join: str, mendable: Sequence[str]) -> str:
    if mendable:
        return f"fix {mendable[0]} first, and plan again"
    return f"give all streams that reach {join} one count, or let fewer of them meet"


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


def _few(streams: int, counted: GroupCounts, say: Callable[[PlannedStream], str], between: str) -> str:
    shown = [say(counted.streams[number]) for number in islice(numbers_in(streams), _SHOWN)]
    more = streams.bit_count() - len(shown)
    return between.join([*shown, f"and {more} more"] if more else shown)

"""Counts that planning starts from: those the systems know, and those that partitionBys ask for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.plan.count_reason import INFERRED_COUNT_CAP, CountReason, CountSource
from streamapp.plan.partition_plan import Role
from streamapp.spec.resource.config_keys import KEYS, PARTITIONS
from streamapp.spec.resource.operator_kinds import StreamUse

_MUST_EXIST = (Role.INPUT, Role.INPUT_OUTPUT, Role.SIDE_INPUT)
_COUNTED = (Role.INPUT, Role.INPUT_OUTPUT, Role.OUTPUT)


@dataclass(frozen=True, slots=True)
class PartitionCount:
    """A partition count and its ground."""

    partitions: int
    because: CountReason


def given_counts(graph: Graph, roles: Mapping[str, Role]) -> dict[str, PartitionCount]:
    """The count of every stream that has one before any join is looked at.

    An intermediate stream that exists already has the count it has: its records lie there. A new one that a
    broadcast makes has one partition. Every task reads all of it, so more would only lose the order of what a
    task wrote, and multiply control messages.
    """
    counts: dict[str, PartitionCount] = {}
    for name in roles:
        stream = graph.streams.get(name)
        if stream is not None and stream.partitions is not None and stream.partitions > 0:
            counts[name] = PartitionCount(
                stream.partitions,
                CountReason(
                    CountSource.KNOWN, system=stream.system or None, counted_by=stream.counted_by or None
                ),
            )
    for operator, stream_name, partitions in requested_counts(graph):
        if partitions > 0:
            counts.setdefault(
                stream_name,
                PartitionCount(partitions, CountReason(CountSource.EXPLICIT, operator=operator.name)),
            )
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        if operator.traits.stream is StreamUse.BROADCASTS and operator.stream is not None:
            one = PartitionCount(1, CountReason(CountSource.BROADCAST, operator=name))
            counts.setdefault(operator.stream, one)
    return counts


def missing_streams(roles: Mapping[str, Role], counts: Mapping[str, PartitionCount]) -> tuple[str, ...]:
    """Streams that the app reads, whose count is unknown."""
    return tuple(name for name, role in roles.items() if role in _MUST_EXIST and name not in counts)


def default_count(
    config: Mapping[str, str], roles: Mapping[str, Role], counts: Mapping[str, PartitionCount]
) -> PartitionCount | None:
    """The count of intermediate streams on which no join imposes one."""
    text = config.get(PARTITIONS)
    if text is not None and KEYS[PARTITIONS].fits(text):
        return PartitionCount(int(text), CountReason(CountSource.CONFIGURED))
    counted = [name for name, role in roles.items() if role in _COUNTED and name in counts]
    if not counted:
        return None
    largest = max(counted, key=lambda name: counts[name].partitions)
    partitions = counts[largest].partitions
    because = CountReason(CountSource.INFERRED, stream=largest, capped=partitions > INFERRED_COUNT_CAP)
    return PartitionCount(min(partitions, INFERRED_COUNT_CAP), because)


def requested_counts(graph: Graph) -> Iterator[tuple[OperatorNode, str, int]]:
    """The cutting operators that ask for a count of their stream, by name."""
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        if operator.cuts and operator.stream is not None and operator.partitions is not None:
            yield operator, operator.stream, operator.partitions

"""Counts that planning starts from: those the systems know, and those that partitionBys ask for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamapp.graph.nodes import Graph, Operator
from streamapp.plan.because import CAP, Because, Ground
from streamapp.plan.plan import Role
from streamapp.spec.config_keys import KEYS, PARTITIONS

_MUST_EXIST = (Role.INPUT, Role.INPUT_OUTPUT, Role.SIDE_INPUT)
_COUNTED = (Role.INPUT, Role.INPUT_OUTPUT, Role.OUTPUT)


@dataclass(frozen=True, slots=True)
class Count:
    """A partition count and its ground."""

    partitions: int
    because: Because


def given_counts(graph: Graph, roles: Mapping[str, Role]) -> dict[str, Count]:
    """The count of every stream that has one before any join is looked at.

    An intermediate stream that exists already has the count it has: its records lie there.
    """
    counts: dict[str, Count] = {}
    for name in roles:
        stream = graph.streams.get(name)
        if stream is not None and stream.partitions is not None and stream.partitions > 0:
            counts[name] = Count(stream.partitions, Because(Ground.KNOWN, system=stream.system or None))
    for operator, stream_name, partitions in asked_for(graph):
        if partitions > 0:
            counts.setdefault(
                stream_name, Count(partitions, Because(Ground.EXPLICIT, operator=operator.name))
            )
    return counts


def missing_streams(roles: Mapping[str, Role], given: Mapping[str, Count]) -> tuple[str, ...]:
    """Streams that the app reads and no system knows."""
    return tuple(name for name, role in roles.items() if role in _MUST_EXIST and name not in given)


def default_count(
    config: Mapping[str, str], roles: Mapping[str, Role], given: Mapping[str, Count]
) -> Count | None:
    """The count of intermediate streams on which no join imposes one."""
    text = config.get(PARTITIONS)
    if text is not None and KEYS[PARTITIONS].fits(text):
        return Count(int(text), Because(Ground.CONFIGURED))
    counted = [name for name, role in roles.items() if role in _COUNTED and name in given]
    if not counted:
        return None
    largest = max(counted, key=lambda name: given[name].partitions)
    partitions = given[largest].partitions
    because = Because(Ground.INFERRED, stream=largest, capped=partitions > CAP)
    return Count(min(partitions, CAP), because)


def asked_for(graph: Graph) -> Iterator[tuple[Operator, str, int]]:
    """The cutting operators that ask for a count of their stream, by name."""
    for name in sorted(graph.operators):
        operator = graph.operators[name]
        if operator.cuts and operator.stream is not None and operator.partitions is not None:
            yield operator, operator.stream, operator.partitions

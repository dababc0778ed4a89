"""Every stream of a graph with its count: what a plan shows, and what a hint is tried on."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.join_groups import JoinGroups, join_groups
from streamapp.graph.nodes import Graph
from streamapp.graph.wiring import broadcast_streams
from streamapp.plan.agreement import Agreement, agree_counts
from streamapp.plan.count_errors import bound_error, count_errors, missing_error, unresolved_error
from streamapp.plan.count_reason import CountReason, CountSource
from streamapp.plan.given_counts import PartitionCount, default_count, given_counts, missing_streams
from streamapp.plan.group_counts import GroupCounts, group_counts
from streamapp.plan.join_mismatches import failing_joins
from streamapp.plan.partition_plan import PlanError, PlannedStream, Role
from streamapp.plan.stream_roles import stream_roles
from streamapp.plan.structure_errors import structure_errors


@dataclass(frozen=True, slots=True)
class CountedStreams:
    """The streams of a graph with their counts, the groups of its joins, and what is wrong."""

    streams: Mapping[str, PlannedStream]
    groups: JoinGroups
    components: tuple[tuple[str, ...], ...]
    counted: GroupCounts
    failing: tuple[str, ...]  # joins whose streams have different counts
    structure: Sequence[PlanError]
    unfounded: Sequence[PlanError]  # counts that are none, and streams without one
    unresolved: Sequence[PlanError]

    @property
    def other_errors(self) -> int:
        """How much is wrong beside the joins that fail."""
        return len(self.structure) + len(self.unfounded) + len(self.unresolved)


def count_streams(graph: Graph, settings: Mapping[str, str]) -> CountedStreams:
    """Infer every count, and check every join with it."""
    role_of = stream_roles(graph)
    counts = given_counts(graph, role_of)
    missing = missing_streams(role_of, counts)
    groups = join_groups(graph)
    agreement = agree_counts(
        groups.without(missing), {name: count.partitions for name, count in counts.items()}
    )
    default = default_count(settings, role_of, counts)
    broadcast = broadcast_streams(graph)
    streams = {
        name: PlannedStream(
            name=name,
            partitions=count.partitions if count else None,
            role=role,
            system=graph.streams[name].system if name in graph.streams else "",
            because=count.because if count else CountReason(CountSource.UNKNOWN),
            broadcast=name in broadcast,
        )
        for name, role in role_of.items()
        for count in (_count(name, role, counts, agreement, default),)
    }
    counted = group_counts(groups, streams)
    unfounded = [
        *bound_error(streams.values()),
        *count_errors(graph, settings),
        *missing_error(graph, missing),
    ]
    # Beside a count that is wrong, one that nothing gives is only what follows from it.
    unresolved = [] if unfounded else [*unresolved_error(_without_count(streams))]
    return CountedStreams(
        streams=streams,
        groups=groups,
        components=agreement.components,
        counted=counted,
        failing=tuple(failing_joins(groups, counted)),
        structure=tuple(structure_errors(graph)),
        unfounded=unfounded,
        unresolved=unresolved,
    )


def _count(
    name: str,
    role: Role,
    counts: Mapping[str, PartitionCount],
    agreement: Agreement,
    default: PartitionCount | None,
) -> PartitionCount | None:
    if name in counts:
        return counts[name]
    if role is not Role.INTERMEDIATE:
        return None
    because = agreement.imposed.get(name)
    if because is not None and because.origin is not None:
        return PartitionCount(counts[because.origin].partitions, because)
    return default


def _without_count(streams: Mapping[str, PlannedStream]) -> Iterator[str]:
    for name, stream in streams.items():
        if stream.role is Role.INTERMEDIATE and stream.partitions is None:
            yield name

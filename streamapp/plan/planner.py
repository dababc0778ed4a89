"""Planning: from an app's graph and the counts its systems know to a plan, with all that is wrong in it."""

from collections.abc import Iterator, Mapping

from streamapp.graph.join_groups import join_groups
from streamapp.graph.nodes import Graph
from streamapp.graph.stages import stages
from streamapp.graph.wiring import broadcast_streams
from streamapp.plan.agreement import Agreement, agree_counts
from streamapp.plan.count_errors import bound_error, count_errors, missing_error, unresolved_error
from streamapp.plan.count_reason import CountReason, CountSource
from streamapp.plan.given_counts import PartitionCount, default_count, given_counts, missing_streams
from streamapp.plan.group_counts import group_counts, planned_joins
from streamapp.plan.join_mismatches import mismatches
from streamapp.plan.partition_plan import Mode, Plan, PlannedStream, Role
from streamapp.plan.stream_roles import stream_roles
from streamapp.plan.structure_errors import structure_errors


def plan(graph: Graph, *, config: Mapping[str, str] | None = None, mode: Mode = Mode.STREAM) -> Plan:
    """Infer every count, then check every join; a graph that is wrong is planned as far as it goes."""
    settings = config or {}
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
    wrong = [*structure_errors(graph), *unfounded, *mismatches(graph, groups, counted)]
    if not unfounded:  # else a count that nothing gives is only what follows from one that is wrong
        wrong += unresolved_error(_without_count(streams))
    return Plan(
        mode=mode,
        streams=streams,
        joins=tuple(planned_joins(graph, groups, counted)),
        components=agreement.components,
        stages=stages(graph),
        broadcast_inputs=_broadcast_inputs(streams),
        errors=tuple(wrong),
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


def _broadcast_inputs(streams: Mapping[str, PlannedStream]) -> str:
    """The external streams that every task reads whole, as `system.stream#[0-63]`."""
    written = []
    for stream in streams.values():
        if stream.broadcast and stream.role is not Role.INTERMEDIATE and stream.partitions:
            last = stream.partitions - 1
            at = f"{stream.system}.{stream.name}" if stream.system else stream.name
            written.append(f"{at}#[0-{last}]" if last else f"{at}#0")
    return ",".join(sorted(written))

"""Planning: from an app's graph and the counts its systems know to a plan, with all that is wrong in it."""

from collections.abc import Mapping

from streamapp.graph.nodes import Graph
from streamapp.graph.stages import stages
from streamapp.plan.counted_streams import count_streams
from streamapp.plan.group_counts import planned_joins
from streamapp.plan.join_mismatches import mismatches
from streamapp.plan.partition_plan import Mode, Plan, PlannedStream, Role
from streamapp.plan.tried_hints import tried_hints


def plan(graph: Graph, *, config: Mapping[str, str] | None = None, mode: Mode = Mode.STREAM) -> Plan:
    """Infer every count, then check every join; a graph that is wrong is planned as far as it goes."""
    settings = config or {}
    counts = count_streams(graph, settings)
    hints = tried_hints(graph, settings, counts)
    return Plan(
        mode=mode,
        streams=counts.streams,
        joins=tuple(planned_joins(graph, counts.groups, counts.counted)),
        components=counts.components,
        stages=stages(graph),
        broadcast_inputs=_broadcast_inputs(counts.streams),
        errors=(
            *counts.structure,
            *counts.unfounded,
            *mismatches(graph, counts.groups, counts.counted, hints),
            *counts.unresolved,
        ),
    )


def _broadcast_inputs(streams: Mapping[str, PlannedStream]) -> str:
    """The external streams that every task reads whole, as `system.stream#[0-63]`."""
    written = []
    for stream in streams.values():
        if stream.broadcast and stream.role is not Role.INTERMEDIATE and stream.partitions:
            last = stream.partitions - 1
            at = f"{stream.system}.{stream.name}" if stream.system else stream.name
            written.append(f"{at}#[0-{last}]" if last else f"{at}#0")
    return ",".join(sorted(written))

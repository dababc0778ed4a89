"""Streams by their final counts, as sets: one look tells whether a group of thousands agrees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamapp.graph.bit_sets import lowest, mask_of
from streamapp.graph.join_groups import JoinGroups
from streamapp.graph.nodes import Graph
from streamapp.plan.count_reason import CountSource
from streamapp.plan.partition_plan import PlannedJoin, PlannedStream, Role

_FOLLOWS = (CountSource.CONFIGURED, CountSource.INFERRED)


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """The streams that can be in groups, by number, and sets of them."""

    streams: Sequence[PlannedStream]
    having: Mapping[int | None, int]  # count -> the streams that have it
    side_inputs: int
    fixed: int  # those whose count stands; any other would take whatever a join imposed

    def agreed(self, group: int) -> int | None:
        """The one count of a group's streams, if they have one."""
        if not group:
            return None
        count = self.streams[lowest(group)].partitions
        return None if group & ~self.having[count] else count

    def by_count(self, group: int) -> dict[int, int]:
        """A group's known counts, smallest first, each with the streams of the group that have it."""
        streams_of_count: dict[int, int] = {}
        remaining_streams = group & ~self.having.get(None, 0)
        while remaining_streams:
            count = self.streams[lowest(remaining_streams)].partitions or 0
            streams_of_count[count] = remaining_streams & self.having[count]
            remaining_streams &= ~streams_of_count[count]
        return dict(sorted(streams_of_count.items()))


def group_counts(groups: JoinGroups, planned: Mapping[str, PlannedStream]) -> GroupCounts:
    """Sort the planned streams into sets."""
    streams = [planned[name] for name in groups.streams]
    having: dict[int | None, int] = {}
    for number, stream in enumerate(streams):
        having[stream.partitions] = having.get(stream.partitions, 0) | 1 << number
    return GroupCounts(
        streams,
        having,
        mask_of(number for number, stream in enumerate(streams) if stream.role is Role.SIDE_INPUT),
        mask_of(number for number, stream in enumerate(streams) if stream.because.kind not in _FOLLOWS),
    )


def planned_joins(graph: Graph, groups: JoinGroups, counted: GroupCounts) -> Iterator[PlannedJoin]:
    """Every join with its streams, and their count when all have the same."""
    for join, mask in groups.masks.items():
        yield PlannedJoin(join, graph.operators[join].kind, groups.members(join), counted.agreed(mask))

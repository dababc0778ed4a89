"""Possible fixes of a join whose streams have different counts: changes to try, the preferred ones first.

A `way` is one kind of fix: its variants say the same to a user and differ in where they cut the graph.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from streamapp.graph.bit_sets import lowest, mask_of, numbers_in
from streamapp.graph.join_groups import reaching_streams
from streamapp.graph.lineage import lineage
from streamapp.graph.nodes import Graph, OperatorNode
from streamapp.graph.wiring import Wiring, wire
from streamapp.plan.count_reason import CountSource
from streamapp.plan.counted_streams import CountedStreams
from streamapp.plan.graph_changes import (
    GraphChange,
    PartitionByInsertion,
    PartitionsRequest,
    StreamGrowth,
    TableBroadcast,
)
from streamapp.plan.partition_plan import Role
from streamapp.spec.resource.operator_kinds import StreamUse

Changes = tuple[GraphChange, ...]
Way = Sequence[Changes]

_GROWING = (Role.INPUT, Role.INPUT_OUTPUT, Role.SIDE_INPUT)


class HintCandidates:
    """The changes that may fix the failing joins of one graph."""

    def __init__(self, graph: Graph, counts: CountedStreams) -> None:
        self._graph = graph
        self._counts = counts
        self._number = {name: number for number, name in enumerate(counts.groups.streams)}

    def ways_by_count(self, join: str) -> Iterator[Sequence[Way]]:
        """The ways for each count that the join's streams could agree on, the preferred one first."""
        for target in self._targets(join):
            yield [way for way in self._ways(join, target) if way]

    def combinations(self, join: str, others: Iterable[str]) -> Iterator[Changes]:
        """Several changes at once: all that the join reads, then the fixes of other joins too."""
        whole = self._all_inputs(join)
        yield whole
        single_steps = [*self._repartitions(join), whole]
        for other in others:
            for other_step in (*self._repartitions(other), self._all_inputs(other)):
                yield from (_together(step, other_step) for step in single_steps)

    def all_inputs_of(self, joins: Iterable[str]) -> Changes:
        """A partitionBy before everything that the joins read."""
        changes: Changes = ()
        for join in joins:
            changes = _together(changes, self._all_inputs(join))
        return changes

    def _targets(self, join: str) -> list[int]:
        """The counts to go by: a side input's, for it cannot be repartitioned, else the largest first."""
        counted = self._counts.counted
        fixed = self._fixed(join)
        largest_first = sorted(counted.by_count(fixed), reverse=True)
        side_counts = counted.by_count(fixed & self._sides(join))
        return sorted(largest_first, key=lambda count: count not in side_counts)

    def _ways(self, join: str, target: int) -> Iterator[Way]:
        """Each kind of fix, for one count."""
        off = self._off(join, target)
        sides = off & self._sides(join)
        explicit = self._explicit(off)
        if explicit:
            rest = off & ~explicit
            for partitions in (target, None):
                requests = self._requests(explicit, partitions)
                yield [_together(requests, cut) for cut in self._cuts(join, rest, target)]
        else:
            yield self._cuts(join, off, target)
        growth = self._growth(off, target)
        yield [growth] if growth else []
        if self._sides(join):
            broadcast = self._broadcast(join)
            yield [broadcast, *(_together(broadcast, cut) for cut in self._cuts(join, off & ~sides, target))]

    def _repartitions(self, join: str) -> list[Changes]:
        """The cuts for the count to go by, and the requests that stand against it."""
        target = self._targets(join)[0]
        off = self._off(join, target)
        explicit = self._explicit(off)
        requests = self._requests(explicit, None)
        return [_together(requests, cut) for cut in self._cuts(join, off & ~explicit, target)]

    def _cuts(self, join: str, off: int, target: int) -> list[Changes]:
        """Repartition streams right before the join, or where they are read; side inputs have to grow."""
        sides = off & self._sides(join)
        growth = self._growth(sides, target)
        if growth is None:
            return []
        rest = off & ~sides
        cuts = [self._before_join(join, rest), self._behind_streams(join, rest)]
        return list(dict.fromkeys(_together(growth, cut) for cut in cuts if cut is not None))

    def _before_join(self, join: str, off: int) -> Changes | None:
        """A partitionBy in each edge into the join, or into its tables, that carries one of these streams."""
        if not off:
            return ()
        consumers: dict[str, list[str]] = defaultdict(list)
        for source, consumer in self._edges_into(join):
            if self._handed_on(source) & off:
                consumers[source].append(consumer)
        if not consumers or not consumers.keys().isdisjoint(self._whole_rows):
            return None
        return tuple(self._insertion(source, names) for source, names in sorted(consumers.items()))

    def _behind_streams(self, join: str, off: int) -> Changes:
        """A partitionBy right behind each of these streams, for all that leads from there to the join."""
        if not off:
            return ()
        on_the_way = set(lineage(self._wiring, join))
        names = {self._counts.groups.streams[number] for number in numbers_in(off)}
        changes = []
        for source in self._sources:
            leading = [name for name in self._consumers[source.name] if name in on_the_way]
            if leading and source.stream in names:
                changes.append(self._insertion(source.name, leading))
        return tuple(changes)

    def _all_inputs(self, join: str) -> Changes:
        """A partitionBy in each edge into the join and its tables; those of side inputs made broadcast."""
        consumers: dict[str, list[str]] = defaultdict(list)
        for source, consumer in self._edges_into(join):
            if source not in self._whole_rows and self._handed_on(source):
                consumers[source].append(consumer)
        broadcast = self._broadcast(join) if self._sides(join) else ()
        return (*broadcast, *(self._insertion(source, names) for source, names in sorted(consumers.items())))

    def _insertion(self, source: str, consumers: Iterable[str]) -> PartitionByInsertion:
        operator = self._graph.operators[source]
        carried = self._handed_on(source)
        if (operator.is_input or operator.cuts) and operator.stream is not None:
            rows = operator.stream
        elif carried.bit_count() == 1:
            rows = self._counts.groups.streams[lowest(carried)]
        else:
            rows = f"the rows of {source}"
        return PartitionByInsertion(source, tuple(sorted(set(consumers))), rows, again=operator.cuts)

    def _growth(self, streams: int, target: int) -> Changes | None:
        """Growth of all these streams, where each lies outside the app and has fewer partitions."""
        changes = []
        for number in numbers_in(streams):
            stream = self._counts.counted.streams[number]
            if stream.role not in _GROWING or (stream.partitions or 0) > target:
                return None
            changes.append(StreamGrowth(stream.name, target))
        return tuple(changes)

    def _requests(self, streams: int, partitions: int | None) -> Changes:
        """Another request in every operator that asks for a count of these streams."""
        names = {self._counts.groups.streams[number] for number in numbers_in(streams)}
        return tuple(
            PartitionsRequest(tuple(sorted(operator.name for operator in asking)), partitions)
            for asking in ([o for o in self._asking if o.stream == name] for name in sorted(names))
        )

    def _broadcast(self, join: str) -> Changes:
        read = self._graph.operators[join].tables
        tables = [self._graph.tables[name] for name in read if name in self._graph.tables]
        return (TableBroadcast(tuple(sorted(table.name for table in tables if table.side_inputs))),)

    def _edges_into(self, join: str) -> Iterator[tuple[str, str]]:
        operators = self._graph.operators
        yield from ((source, join) for source in operators[join].inputs if source in operators)
        tables = {name for name in operators[join].tables if self._partitioned(name)}
        for writer in self._writers:
            if writer.name != join and not tables.isdisjoint(writer.tables):
                yield from ((source, writer.name) for source in writer.inputs if source in operators)

    def _handed_on(self, source: str) -> int:
        """The streams whose records an operator hands on, with the one that it makes in their place."""
        operator = self._graph.operators[source]
        if not operator.cuts:
            return self._reaching[source]
        return 1 << self._number[operator.stream] if operator.stream in self._number else 0

    def _fixed(self, join: str) -> int:
        return self._counts.groups.masks[join] & self._counts.counted.fixed

    def _off(self, join: str, target: int) -> int:
        having = self._counts.counted.having
        return self._fixed(join) & ~having.get(target, 0) & ~having.get(None, 0)

    def _explicit(self, streams: int) -> int:
        planned = self._counts.counted.streams
        return mask_of(n for n in numbers_in(streams) if planned[n].because.kind is CountSource.EXPLICIT)

    def _sides(self, join: str) -> int:
        names = self._graph.operators[join].tables
        sides = (
            side for name in names if self._partitioned(name) for side in self._graph.tables[name].side_inputs
        )
        return mask_of({self._number[side] for side in sides if side in self._number})

    def _partitioned(self, table: str) -> bool:
        return table in self._graph.tables and self._graph.tables[table].partitioned

    @cached_property
    def _reaching(self) -> dict[str, int]:
        return dict(reaching_streams(self._graph))

    @cached_property
    def _wiring(self) -> Wiring:
        return wire(self._graph)

    @cached_property
    def _sources(self) -> list[OperatorNode]:
        """The operators behind which a stream is read, by name."""
        operators = (self._graph.operators[name] for name in sorted(self._consumers))
        return [operator for operator in operators if operator.is_input or operator.cuts]

    @cached_property
    def _writers(self) -> list[OperatorNode]:
        return [operator for operator in self._graph.operators.values() if operator.traits.writes_tables]

    @cached_property
    def _asking(self) -> list[OperatorNode]:
        operators = self._graph.operators.values()
        return [operator for operator in operators if operator.cuts and operator.partitions is not None]

    @cached_property
    def _consumers(self) -> dict[str, list[str]]:
        consumers: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self._graph.operators):
            for source in self._graph.operators[name].inputs:
                if source in self._graph.operators:
                    consumers[source].append(name)
        return consumers

    @cached_property
    def _whole_rows(self) -> set[str]:
        """The operators that hand on a broadcast's rows in every task: a partitionBy would repeat them."""
        whole = {
            name
            for name, operator in self._graph.operators.items()
            if operator.traits.stream is StreamUse.BROADCASTS
            or (operator.is_input and operator.stream not in self._number)
        }
        waiting = sorted(whole)
        while waiting:
            for name in self._consumers.get(waiting.pop(), ()):
                if name not in whole and not self._graph.operators[name].cuts:
                    whole.add(name)
                    waiting.append(name)
        return whole


def _together(first: Changes, second: Changes) -> Changes:
    """The changes of both; of two partitionBys behind one operator before a common consumer, one is left."""
    changes = list(first)
    for change in second:
        same = next((number for number, earlier in enumerate(changes) if _overlap(earlier, change)), None)
        if same is None:
            changes.append(change)
        else:
            changes[same] = _united(changes[same], change)
    return tuple(changes)


def _overlap(one: GraphChange, other: GraphChange) -> bool:
    if isinstance(one, PartitionByInsertion) and isinstance(other, PartitionByInsertion):
        return one.source == other.source and not set(one.consumers).isdisjoint(other.consumers)
    return one == other


def _united(one: GraphChange, other: GraphChange) -> GraphChange:
    if isinstance(one, PartitionByInsertion) and isinstance(other, PartitionByInsertion):
        consumers = tuple(sorted({*one.consumers, *other.consumers}))
        return PartitionByInsertion(one.source, consumers, one.rows, one.again)
    return one

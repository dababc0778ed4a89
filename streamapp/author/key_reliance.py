"""The streams that an app relies on to hold each record in the partition of its key, and where that is."""

from collections.abc import Iterable, Iterator
from typing import Final

from streamapp.graph.join_groups import forms_group
from streamapp.graph.nodes import Graph
from streamapp.graph.wiring import direct_producers
from streamapp.plan.partition_plan import Plan, PlanError
from streamapp.plan.render.wording import listed
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.streams import Stream
from streamapp.spec.resource.tables import SideInput, Table
from streamapp.spec.value_types.partitioner_names import DEFAULT_PARTITIONER
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.key_placement import NO_TASK, KeyPlacement, KeyReliance
from streamapp.tasks.partition import Partition

_MOST_NAMED: Final = 6


def key_reliance(app: StreamApp, graph: Graph) -> dict[str, KeyReliance]:
    """The reliance of the operators on the keys of each stream that exists outside the app and is read.

    What groups keys or fills a table relies on the place of every record. A class of the app's own may do so
    too, where the stream declares a key; a table that is whole everywhere is looked up by the value.
    """
    groups = {
        name
        for name, operator in graph.operators.items()
        if forms_group(graph, operator) or operator.traits.fills_tables
    }
    keeps = {name for name, operator in graph.operators.items() if operator.traits.keeps_state}
    looks_up = {
        operator.name
        for operator in app.spec.operators
        if operator.join_table is not None and operator.join_table.key is None
    }
    grouped, remembered = streams_before(graph, groups), streams_before(graph, keeps)
    looked_up = streams_before(graph, looks_up)
    reliances: dict[str, KeyReliance] = {}
    for stream in app.spec.streams:
        declared = stream.key is not None
        if stream.keys == "unchecked":
            reliance = KeyReliance.NONE
        elif stream.name in grouped or (declared and stream.name in remembered):
            reliance = KeyReliance.PLACE
        else:
            reliance = KeyReliance.VALUE if declared and stream.name in looked_up else KeyReliance.NONE
        reliances[stream.name] = reliance
    return reliances


def side_input_reliance(stream: Stream, table: Table, side: SideInput) -> KeyReliance:
    """The reliance of a table on the keys of the records that fill it.

    The keys that a Python function gives are not the records'.
    """
    if stream.keys == "unchecked" or side.python is not None:
        return KeyReliance.NONE
    if not table.broadcast:
        return KeyReliance.PLACE
    return KeyReliance.VALUE if stream.key is not None and side.key is None else KeyReliance.NONE


def partitioner_errors(app: StreamApp, planned: Plan) -> Iterator[PlanError]:
    """Operators at which streams meet whose keys are put into partitions by different hashes.

    What a stream without a check holds nobody proves, one partition has all keys, and a stream that every
    task reads whole has them everywhere.
    """
    unchecked = {stream.name for stream in app.spec.streams if stream.keys == "unchecked"}
    sides = {side.stream for table in app.spec.tables for side in table.side_inputs}
    for join in planned.joins:
        planned_streams = [planned.streams[name] for name in join.streams if name not in unchecked]
        streams = [one.name for one in planned_streams if one.partitions != 1 and not one.broadcast]
        partitioners = {name: app.spec.partitioner_of(name) for name in streams}
        if len(set(partitioners.values())) < 2:
            continue
        named = listed([f"{stream} by {name}" for stream, name in partitioners.items()], _MOST_NAMED)
        others = [stream for stream in streams if partitioners[stream] != DEFAULT_PARTITIONER]
        read, filling = ([one for one in others if (one in sides) is is_side] for is_side in (False, True))
        mends = [f"put a partitionBy between {listed(read, _MOST_NAMED)} and {join.operator}"] * bool(read)
        mends += [f"make the table that {listed(filling, _MOST_NAMED)} fills broadcast"] * bool(filling)
        message = (
            f"streams meet whose keys are in partitions by different hashes: {named}; equal keys would be in "
            "different tasks"
        )
        yield PlanError(Reason.INVALID_GRAPH, join.operator, (), message, " and ".join(mends))


def key_placements(app: StreamApp, assignment: Assignment) -> dict[str, KeyPlacement]:
    """The placement of keys, for each stream whose keys several tasks divide among them.

    A stream on which no state depends has no initial partitions. It counts as it is today; once it has grown
    nothing tells by which count a record was written, and it has no entry.
    """
    owner_of = {partition: task for task, partitions in assignment.tasks.items() for partition in partitions}
    placements: dict[str, KeyPlacement] = {}
    for stream in sorted({partition.stream for partition in owner_of}):
        layout = assignment.layout.streams[stream]
        if layout.initial:
            count, owners = layout.initial, layout.owners
        elif layout.first == layout.last:
            count = layout.last
            owners = tuple(owner_of.get(Partition(stream, index)) for index in range(count))
        else:
            continue
        if len(set(owners)) > 1:
            partitioner = app.spec.partitioner_of(stream)
            placements[stream] = KeyPlacement(count, layout.folds, _numbers(owners), partitioner)
    return placements


def _numbers(owners: Iterable[str | None]) -> tuple[int, ...]:
    """A number for each task."""
    numbers: dict[str, int] = {}
    return tuple(NO_TASK if task is None else numbers.setdefault(task, len(numbers)) for task in owners)


def streams_before(graph: Graph, operators: Iterable[str]) -> set[str]:
    """The streams whose records reach one of these operators in the task that reads them."""
    reached = set(operators)
    waiting = list(reached)
    streams: set[str] = set()
    while waiting:
        operator = graph.operators[waiting.pop()]
        if operator.is_input and operator.stream is not None:
            streams.add(operator.stream)
        producers = {producer.name for producer in direct_producers(graph, operator)}
        waiting += producers - reached
        reached |= producers
    return streams

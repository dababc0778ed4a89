"""The streams that an app relies on to hold each record in the partition of its key, and where that is."""

from collections.abc import Iterable, Iterator, Sequence
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


def key_form_errors(app: StreamApp, graph: Graph, planned: Plan) -> Iterator[PlanError]:
    """Operators and tables that rely on partitions by other keys than rows have; joins of keys of two forms.

    Kafka's clients place a record by the bytes of its key. Where rows have the value behind a frame as their
    key, equal keys may have several schemas, and so be in several partitions.
    """
    decoded = {
        stream.name
        for stream in app.spec.streams
        if stream.key_is_decoded and stream.keys == "checked" and _is_divided(planned, stream.name)
    }
    for name, operator in graph.operators.items():
        needs = operator.traits.keeps_state or operator.traits.fills_tables or forms_group(graph, operator)
        if needs and (streams := sorted(decoded & streams_before(graph, {name}))):
            message, hint = _placed_otherwise(streams, name, f"put a partitionBy before {name}")
            yield PlanError(Reason.INVALID_GRAPH, name, (), message, hint)
    for table in app.spec.tables:
        sides = {side.stream for side in table.side_inputs if side.python is None}
        if not table.broadcast and (streams := sorted(decoded & sides)):
            mend = f"say broadcast: true for {table.name}, or fill it by sendToTable behind a partitionBy"
            message, hint = _placed_otherwise(streams, f"the table {table.name}", mend)
            yield PlanError(Reason.INVALID_GRAPH, None, (), message, hint)
    for join in planned.joins:
        forms = {name: _key_form(app, name) for name in join.streams}
        known = {name: form for name, form in forms.items() if form is not None}
        if len(set(known.values())) > 1:
            named = listed([f"those of {stream} are {form}" for stream, form in known.items()], _MOST_NAMED)
            message = f"keys meet that are never equal, byte by byte: {named}"
            mend = f"put a partitionBy by one of metadata.keyColumns before {join.operator}"
            yield PlanError(Reason.INVALID_GRAPH, join.operator, (), message, mend)


def _placed_otherwise(streams: Sequence[str], what: str, mend: str) -> tuple[str, str]:
    """The message that streams are divided by other bytes than the keys of rows, and what to do."""
    names = listed(streams, _MOST_NAMED)
    message = (
        f"{what} needs equal keys in one task, and records of {names} are in partitions by the bytes of "
        "their keys, with the id of a schema"
    )
    return message, f'{mend}; or say "keys: unchecked" if all keys of {names} have one schema'


def _is_divided(planned: Plan, stream: str) -> bool:
    return stream in planned.streams and planned.streams[stream].partitions != 1


def _key_form(app: StreamApp, name: str) -> str | None:
    """The form of a stream's keys as rows have them, for people; None where nothing says it."""
    stream = next((each for each in app.spec.streams if each.name == name), None)
    if stream is None or stream.key is None or stream.keys == "unchecked":
        return None
    if stream.has_registered_keys and not stream.key_is_decoded and stream.metadata is not None:
        return f"{stream.metadata.key_format} behind the id of a schema"
    return "plain" if stream.key_in_values or stream.key_is_decoded else None


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

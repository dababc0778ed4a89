"""The tasks that can have a key in a table or in an operator's own state, by the rule that forms tasks."""

from collections.abc import Iterable

import pyarrow as pa

from streamapp.author.key_reliance import key_reliance, side_input_reliance, streams_before
from streamapp.tasks.key_placement import KeyReliance
from streamapp_runtime.driver.start.launch import Launch
from streamapp_runtime.key_partitioning import partition_of


def tasks_with_keys(launch: Launch, table: str, keys: tuple[bytes, ...]) -> frozenset[str]:
    """The tasks that can have one of these keys: all of them where no rule says which."""
    every = frozenset(launch.partitions)
    if table in {broadcast.name for broadcast in launch.broadcasts}:
        return frozenset(sorted(every)[:1])  # every task sees the same rows
    streams = _streams_that_place(launch, table) if keys else None
    if not streams:
        return every
    owners: set[str] = set()
    for stream in streams:
        layout = launch.assignment.layout.streams.get(stream)
        if layout is None or not layout.owners or None in layout.owners:
            return every
        partitioner = launch.app.spec.partitioner_of(stream)
        indexes = partition_of(pa.array(keys, pa.binary()), layout.initial, partitioner=partitioner).tolist()
        owners |= {task for index in indexes if (task := layout.owners[index]) is not None}
    return frozenset(owners)


def _streams_that_place(launch: Launch, table: str) -> Iterable[str] | None:
    """The streams whose partitions say where the keys of a table are; None where keys may be anywhere.

    An aggregate by the record's key, and a table that side inputs fill under it, have each key where their
    streams have it. What is kept under another key is where the record was that it came of.
    """
    app, graph = launch.app, launch.proposal.graph
    operator = next((each for each in app.spec.operators if each.name == table), None)
    if operator is not None:
        if operator.aggregate is None or operator.aggregate.key is not None:
            return None
        reliances = key_reliance(app, graph)
        streams = streams_before(graph, {table})
        is_placed = all(reliances.get(stream, KeyReliance.PLACE) is KeyReliance.PLACE for stream in streams)
        return streams if is_placed else None
    declared = next((each for each in app.spec.tables if each.name == table), None)
    if declared is None or not declared.side_inputs:
        return None
    streams_by_name = {stream.name: stream for stream in app.spec.streams}
    sides = {side.stream: side for side in declared.side_inputs}
    is_placed = all(
        name in streams_by_name
        and side.key is None
        and side_input_reliance(streams_by_name[name], declared, side) is KeyReliance.PLACE
        for name, side in sides.items()
    )
    return sides if is_placed else None

"""The partitions that each task reads, hops too, and the order in which an app's streams are read."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp.author.proposal import Proposal
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.tables import Table
from streamapp.tasks.expansion.start_origin import StartOrigin, start_origin
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.broadcast_tables import BroadcastTable
from streamapp_runtime.driver.inputs.read_scheduling import ReadOrder
from streamapp_runtime.driver.start.stream_creation import retention_by_stream
from streamapp_runtime.operators.stateless.stream_operations import (
    MADE_BY_APP,
    Read,
    StreamRole,
    declared_stream,
    side_name,
)
from streamapp_runtime.program.program import PlacedOperation
from streamapp_runtime.systems.app_systems import Systems


def read_streams(tasks: Sequence[PlacedOperation]) -> frozenset[str]:
    """The streams that a program reads, as orders and checkpoints name them."""
    return frozenset(task.operation.name for task in tasks if isinstance(task.operation, Read))


def latest_positions(
    app: StreamApp,
    assignment: Assignment,
    shared: Sequence[BroadcastTable],
    systems: Systems,
) -> dict[Partition, int]:
    """The ends of the streams of which only what comes from now on is wanted, those of shared tables too."""
    names = {stream.name for stream in app.spec.streams if stream.start == "latest"}
    layout = assignment.layout
    in_layout = names & layout.streams.keys()
    every = {
        p
        for task in assignment.tasks
        for p in assignment.partitions(task)
        if p.stream in in_layout and start_origin(p, layout) is StartOrigin.AS_SET
    }
    sides = (Partition(declared_stream(p.stream), p.index) for table in shared for p in table.partitions)
    every |= {p for p in sides if p.stream in names and p.stream not in in_layout}
    return {partition: span.end for partition, span in systems.spans(every).items()}


def input_ends(
    tasks: Sequence[PlacedOperation], partitions: Mapping[str, Sequence[Partition]], systems: Systems
) -> dict[Partition, int]:
    """The end offsets of a batch app's inputs today. Another app's stream ends where that app says so."""
    inputs = {
        task.operation.stream
        for task in tasks
        if isinstance(task.operation, Read)
        and task.operation.role is StreamRole.INPUT
        and not task.operation.control
    }
    every = {p for parts in partitions.values() for p in parts if p.stream in inputs}
    return {partition: span.end for partition, span in systems.spans(every).items()}


def partitions_by_task(
    app: StreamApp, assignment: Assignment, tasks: Sequence[PlacedOperation]
) -> dict[str, tuple[Partition, ...]]:
    """The partitions of each task, with those of side inputs."""
    reads = read_streams(tasks)
    partitions = {task: list(assignment.partitions(task)) for task in assignment.tasks}
    for name, side_partitions in side_partitions_by_task(app, assignment, tasks).items():
        partitions[name] += side_partitions
    return {task: tuple(sorted(p for p in parts if p.stream in reads)) for task, parts in partitions.items()}


def side_partitions_by_task(
    app: StreamApp, assignment: Assignment, tasks: Sequence[PlacedOperation]
) -> dict[str, list[Partition]]:
    """The partitions that fill the tables of each task that are the task's own."""
    reads = [read for read in side_input_reads(tasks) if not fills_broadcast_table(app, read)]
    return {
        name: [
            Partition(read.name, p.index)
            for read in reads
            for p in assignment.partitions(name)
            if p.stream == read.stream
        ]
        for name in assignment.tasks
    }


def side_input_reads(tasks: Sequence[PlacedOperation]) -> list[Read]:
    """The readings that fill tables."""
    every = (task.operation for task in tasks if isinstance(task.operation, Read))
    return [read for read in every if read.table is not None]


def broadcast_tables_of(
    app: StreamApp, proposal: Proposal, tasks: Sequence[PlacedOperation]
) -> tuple[BroadcastTable, ...]:
    """The tables that are whole everywhere, and what fills them."""
    parts: dict[str, list[Partition]] = {}
    for read in side_input_reads(tasks):
        if read.table is not None and fills_broadcast_table(app, read):
            count = proposal.plan.streams[read.stream].partitions or 0
            parts.setdefault(read.table, []).extend(Partition(read.name, index) for index in range(count))
    tables = {table.name: table for table in app.spec.tables}
    return tuple(
        _broadcast_table(app, tables[name], partitions) for name, partitions in sorted(parts.items())
    )


def _broadcast_table(app: StreamApp, table: Table, partitions: Iterable[Partition]) -> BroadcastTable:
    before, in_versions = table.visibility == "sameBatch", app.spec.in_versions(table)
    return BroadcastTable(table.name, tuple(partitions), table.store == "memory", in_versions, before)


def fills_broadcast_table(app: StreamApp, read: Read) -> bool:
    """True if a reading fills a table that is whole everywhere."""
    return any(table.name == read.table and table.broadcast for table in app.spec.tables)


def read_order(app: StreamApp, proposal: Proposal, tasks: Sequence[PlacedOperation]) -> ReadOrder:
    """The streams that go first, and those that wait for tables."""
    depth = {source: place for place, stage in enumerate(proposal.plan.stages) for source in stage.sources}
    inner = [
        t.operation.name for t in tasks if isinstance(t.operation, Read) and t.operation.role in MADE_BY_APP
    ]
    side = {read.name for read in side_input_reads(tasks)}
    waited = {
        side_name(s.stream, table.name) for table in app.spec.tables for s in table.side_inputs if s.bootstrap
    }
    priority = sorted(inner, key=lambda name: -depth.get(name, len(depth)))
    histories = {stream.name: stream.after for stream in app.spec.streams if stream.after is not None}
    return ReadOrder(tuple(priority), frozenset(waited), frozenset(side), retention_by_stream(app), histories)

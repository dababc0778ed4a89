"""Makes the streams that an app writes and that are not there yet, and says how many partitions each has."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from streamapp.author.proposal import Proposal
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.runtime_policies import BadRecords, CodeErrors, RejectionBound
from streamapp.spec.value_types.durations import milliseconds
from streamapp_runtime.driver.app_refusal import AppRefusedError, path_of
from streamapp_runtime.lanes.protocol.rejections import RejectionCause
from streamapp_runtime.lanes.records.dead_letters import SideOutputStream
from streamapp_runtime.lanes.records.rejection_policy import RejectionLimit, RejectionPolicy
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.operators.stateless.stream_operations import Read, Write
from streamapp_runtime.program.program import PlacedOperation
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import StreamOptions, create_or_grow


def create_written_streams(
    app: StreamApp, proposal: Proposal, tasks: Collection[PlacedOperation], systems: Systems
) -> dict[str, int]:
    """The streams that operators write; RefusedError where one has another count than it must."""
    known = [stream.partitions for stream in proposal.plan.streams.values() if stream.partitions]
    counts: dict[str, int] = {}
    # What the app reads it clears itself: the system would let go of records that it has not read yet.
    read = {task.operation.stream for task in tasks if isinstance(task.operation, Read)}
    retention_of = {stream: ms for stream, ms in retention_by_stream(app).items() if stream not in read}
    for task in tasks:
        if not isinstance(task.operation, Write):
            continue
        stream = task.operation.stream
        planned = proposal.plan.streams.get(stream)
        count = task.operation.partitions or (planned and planned.partitions) or max(known)
        existing_count = systems.partitions(stream)
        if existing_count is None:
            engine_owned = task.operation.enveloped
            systems.create(
                stream, count, StreamOptions(retention_ms=retention_of.get(stream), engine_owned=engine_owned)
            )
        elif task.operation.partitions is not None and existing_count != count:
            message = f'stream "{stream}" has {existing_count} partitions and the plan needs {count}'
            raise AppRefusedError([Problem(0, 0, path_of(app, task.name), f"{message}; remove the stream")])
        counts[stream] = existing_count or count
        _create_outbox(stream, counts[stream], systems)
    return counts


def _create_outbox(stream: str, partitions: int, systems: Systems) -> None:
    """The outbox of a stream that has one, with a partition for each of the stream's."""
    outbox = systems.connections.outboxes.get(stream)
    if outbox is not None:
        create_or_grow(systems.home, outbox, partitions)


def retention_by_stream(app: StreamApp) -> dict[str, int]:
    """The streams between stages that are kept for readers outside the app, and for how many milliseconds."""
    return {
        app.intermediate_stream(operator.name): milliseconds(operator.partition_by.retention)
        for operator in app.spec.operators
        if operator.partition_by is not None and operator.partition_by.retention is not None
    }


def create_changelogs(specs: Iterable[StoreSpec], changelog: Mapping[str, int], systems: Systems) -> None:
    """A partition for every task in the changelog of every kind of state."""
    wanted = max(changelog.values()) + 1
    for spec in specs:
        if spec.changelog is None:
            continue
        existing_count = systems.partitions(spec.changelog)
        if existing_count is not None and existing_count < wanted:
            systems.grow(spec.changelog, wanted)
        else:
            systems.create(spec.changelog, existing_count or wanted, StreamOptions(compacted=True))


def rejection_policies(app: StreamApp, systems: Systems) -> dict[RejectionCause, RejectionPolicy]:
    """The policies for records that are left out; streams that take them are made where they are missing."""
    letters = {cause: policy.stream for cause, policy in _rejections(app) if policy.action == "deadLetter"}
    return {
        cause: replace(policy, letters=_letters(app, letters.get(cause), systems))
        for cause, policy in uncollected_rejections(app).items()
    }


def uncollected_rejections(app: StreamApp) -> dict[RejectionCause, RejectionPolicy]:
    """The same for who reads records before it is their turn: nothing takes those that are left out."""
    return {cause: RejectionPolicy(policy.action, _limit(policy.bound)) for cause, policy in _rejections(app)}


def _rejections(app: StreamApp) -> tuple[tuple[RejectionCause, BadRecords | CodeErrors], ...]:
    spec = app.spec
    return (RejectionCause.RECORD, spec.on_bad_record), (RejectionCause.CODE, spec.on_code_error)


def _limit(bound: RejectionBound) -> RejectionLimit:
    return RejectionLimit(float(bound.share.removesuffix("%")) / 100, bound.window, bound.in_a_row)


def create_late_row_stream(app: StreamApp, systems: Systems) -> SideOutputStream | None:
    """The stream that takes late rows, where there is to be one."""
    late = app.spec.late_rows
    return _letters(app, late.stream, systems) if late.action == "stream" else None


def _letters(app: StreamApp, stream: str | None, systems: Systems) -> SideOutputStream | None:
    if stream is None:
        return None
    existing_count = systems.partitions(stream)
    if existing_count is None:
        systems.create(stream, 1)
    _create_outbox(stream, existing_count or 1, systems)
    return SideOutputStream(stream, existing_count or 1, app.spec.partitioner_of(stream))

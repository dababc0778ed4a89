"""The setup of workers for an app's event time: made of the program, the tasks and the app's settings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from streamapp.control.idle_rule import IdleRule
from streamapp.control.upstream_tasks import reading_tasks, upstream_tasks
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import CONTROL_INTERVAL, KEYS
from streamapp.spec.resource.operators import Repartition
from streamapp.spec.value_types.durations import milliseconds
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint_entries import WRITERS_MODEL
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.inputs.bounded_turns import BoundedTurn
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup, WatermarkOutput
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole, Write
from streamapp_runtime.program.program import Program
from streamapp_runtime.program.watermark_reach import program_reach

Partitions = Mapping[str, tuple[Partition, ...]]


def timekeeping_of(
    app: StreamApp,
    program: Program,
    partitions: Partitions,
    ledger: CheckpointStream,
    turn: BoundedTurn | None,
    now: int,
) -> EventTimeSetup | None:
    """All of it; None where the app has no event times and never ends, whatever its tables do."""
    fed_back = _fed_back(app)
    reach_of_program = program_reach(program, fed_back)
    number = turn.number if turn else 0
    if not number and not reach_of_program.timed:
        return None
    operations = [task.operation for task in program.tasks]
    reads = {o.stream: o for o in operations if isinstance(o, Read) and o.role is not StreamRole.SIDE_INPUT}
    main_partitions = {
        task: tuple(p for p in parts if p.stream in reads) for task, parts in partitions.items()
    }
    upstream = upstream_tasks(
        {stream: reach.holds for stream, reach in reach_of_program.writes.items()},
        reading_tasks(main_partitions),
    )
    counts = {o.stream: o.partitions for o in operations if isinstance(o, Write)}
    timed = {
        s.name: s.event_time
        for s in app.spec.streams
        if s.event_time and s.name in reads and s.name not in fed_back
    }
    return EventTimeSetup(
        run=f"{ledger.run_id}/{number}" if number else ledger.run_id,
        model=_model(ledger, upstream),
        since=now,
        interval=control_interval(app),
        partitions=main_partitions,
        delays={name: milliseconds(time.delay) for name, time in timed.items()},
        timed=reach_of_program.timed,
        made=frozenset(stream for stream, read in reads.items() if read.enveloped and not read.control),
        controlled=frozenset(stream for stream, read in reads.items() if read.control),
        outlets={
            stream: WatermarkOutput(counts[stream] or 0, len(upstream[stream]), reach)
            for stream, reach in reach_of_program.writes.items()
        },
        states=reach_of_program.states,
        idle={
            name: IdleRule(milliseconds(time.idle_timeout), time.idle_quorum)
            for name, time in timed.items()
            if time.idle_timeout is not None
        },
        idle_tasks=dict(_idle_tasks(app)),
        turn=number,
    )


def _idle_tasks(app: StreamApp) -> Iterator[tuple[str, IdleRule]]:
    """The streams that may go on without upstream tasks that are silent."""
    for operator in app.spec.operators:
        if isinstance(operator.body, Repartition) and operator.body.idle_timeout is not None:
            rule = IdleRule(milliseconds(operator.body.idle_timeout), operator.body.idle_quorum)
            yield app.intermediate_stream(operator.name), rule


def control_interval(app: StreamApp) -> int:
    """The shortest time between two watermarks of a task, in milliseconds."""
    return int(app.spec.config.get(CONTROL_INTERVAL, KEYS[CONTROL_INTERVAL].default))


def _fed_back(app: StreamApp) -> frozenset[str]:
    """The streams that the app reads and writes itself."""
    return frozenset(stream.name for stream in app.spec.streams if stream.feedback)


def _model(ledger: CheckpointStream, upstream: Mapping[str, Sequence[str]]) -> int:
    """The version of who speaks to which stream: one more when that changes, so that all are waited for."""
    text = json.dumps({stream: sorted(tasks) for stream, tasks in sorted(upstream.items())})
    digest = sha256(text.encode()).hexdigest()
    recorded = WRITERS_MODEL.read(
        ledger.entries, ledger.stream, lambda fields: (int(fields["version"]), str(fields["hash"]))
    )
    version, recorded_digest = recorded or (0, "")
    if recorded_digest == digest:
        return version
    ledger.record(WRITERS_MODEL, {"version": version + 1, "hash": digest})
    return version + 1

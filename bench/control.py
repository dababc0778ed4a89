"""Control messages: 300 tasks say how far they are to 300 partitions, and 300 tasks hear it.

All in one process and on the embedded log, so that every message is paid for here: written once, read once,
heard, and kept in the books of a checkpoint.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.row import Row
from streamapp.spec.value_types.column_list import Column
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, EventTimeProgress
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup, WatermarkOutput
from streamapp_runtime.lanes.event_time.lane_event_time import LaneEventTime
from streamapp_runtime.lanes.event_time.watermark_receiver import BookkeepingCache, WatermarkUpdate
from streamapp_runtime.lanes.event_time.watermark_sender import WatermarkSender
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange, TaskOrder
from streamapp_runtime.lanes.records.record_decoding import RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.operators.state.event_clock import WatermarkReach
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.systems.app_systems import Systems

TASKS = PARTITIONS = 300
ROUNDS = 3
STREAM = "app.through"
COLUMNS = (Column("x", "INT"),)


def rows() -> Iterator[Row]:
    """Writing and hearing one watermark of every task, in CPU seconds, and what a checkpoint keeps of it."""
    with TemporaryDirectory() as folder:
        systems = Systems(embedded_storage(Path(folder)).systems)
        systems.create(STREAM, PARTITIONS)
        written, heard, text = _measured(systems)
        systems.close()
    messages = TASKS * PARTITIONS
    yield Row(f"{messages:,} watermarks written, all tasks", written, "CPU s", beside="once an interval")
    yield Row(f"{messages:,} watermarks read, heard, kept", heard, "CPU s", beside=_share(written + heard))
    yield Row("books of a task that hears 300 others", text, "characters", beside="in its checkpoint")


def _share(seconds: float) -> str:
    return f"both: {seconds:.2f} of a core's second, when each task moves every second"


def _measured(systems: Systems) -> tuple[float, float, float]:
    speakers, readers = _keeping("upstream"), _keeping(STREAM)
    before = {task: EventTimeProgress() for task in speakers.partitions}
    checkpoints: dict[str, str] = {}
    memory: BookkeepingCache = {}
    spent = [0.0, 0.0]
    for number in range(1, ROUNDS + 1):
        begun = time.process_time()
        _say(systems, speakers, before, number)
        spent[0] += time.process_time() - begun
        begun = time.process_time()
        _hear(systems, readers, checkpoints, memory, number)
        spent[1] += time.process_time() - begun
    found = Checkpoint.decode(checkpoints["Partition 0"].encode()).reached
    return spent[0] / ROUNDS, spent[1] / ROUNDS, float(len(found.heard) if found else 0)


def _keeping(stream: str) -> EventTimeSetup:
    partitions = {f"Partition {n}": (Partition(stream, n),) for n in range(TASKS)}
    reach = WatermarkReach({"upstream": 0}, timed=True)
    return EventTimeSetup(
        run="run",
        model=1,
        since=0,
        interval=1_000,
        partitions=partitions,
        delays={},
        timed=frozenset({"upstream", STREAM}),
        made=frozenset({STREAM}),
        controlled=frozenset(),
        outlets={STREAM: WatermarkOutput(PARTITIONS, TASKS, reach)},
        states={},
    )


def _say(
    systems: Systems, keeping: EventTimeSetup, before: dict[str, EventTimeProgress], number: int
) -> None:
    """Every task has moved, and an interval is over."""
    speaking = WatermarkSender(keeping, 1_000 * number)
    for place, task in enumerate(keeping.partitions):
        news = WatermarkUpdate({"upstream": 1_000 * number + place}, "", None)
        before[task], _ = speaking.after(task, before[task], news)
    transaction = systems.home.begin("tests", 0)
    for partition, records in speaking.records():
        transaction.append(systems.at_home(partition), records)
    transaction.commit()


def _hear(
    systems: Systems,
    keeping: EventTimeSetup,
    checkpoints: dict[str, str],
    memory: BookkeepingCache,
    number: int,
) -> None:
    """Every task reads its partition, and has its checkpoint written."""
    start = TASKS * (number - 1)
    tasks = tuple(
        TaskOrder(name, n, checkpoints.get(name, ""), (ReadRange(STREAM, n, start, start + TASKS),))
        for n, name in enumerate(keeping.partitions)
    )
    lane = LaneEventTime(keeping, LaneOrder("processor-0", tasks), 1_000 * number, memory)
    read = Read(STREAM, "main", STREAM, StreamRole.INTERMEDIATE, "json", COLUMNS)
    decoder = RecordDecoder(read, open_format("json", COLUMNS))
    requests = [RequestedRange(task.ranges[0], index, index) for index, task in enumerate(tasks)]
    for decoded in read_records(decoder, requests, systems):
        for records in decoded.parts:
            lane.receive(records.request.task, Partition(STREAM, records.request.task), records)
    lane.finish_reading(())
    speaking = WatermarkSender(keeping, lane.now)
    for index, task in enumerate(tasks):
        reached, _ = speaking.after(task.name, lane.before[index], lane.updates[index])
        checkpoints[task.name] = Checkpoint("run", "", reached=reached).encode().decode()

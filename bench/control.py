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
from streamapp_runtime.checkpoint import Checkpoint, Reached
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.lanes.intake import Asked, take
from streamapp_runtime.lanes.lane_time import LaneTime
from streamapp_runtime.lanes.listening import Memory, News
from streamapp_runtime.lanes.orders import LaneOrder, ReadRange, TaskOrder
from streamapp_runtime.lanes.speaking import Speaking
from streamapp_runtime.lanes.timekeeping import Outlet, Timekeeping
from streamapp_runtime.program.operations import Read, Role
from streamapp_runtime.program.reach import Reach
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

TASKS = PARTITIONS = 300
ROUNDS = 3
STREAM = "app.through"
COLUMNS = (Column("x", "INT"),)


def rows() -> Iterator[Row]:
    """Writing and hearing one watermark of every task, in CPU seconds, and what a checkpoint keeps of it."""
    with TemporaryDirectory() as folder:
        system = EmbeddedSystem(Path(folder))
        system.create(STREAM, PARTITIONS)
        written, heard, text = _measured(system)
        system.close()
    messages = TASKS * PARTITIONS
    yield Row(f"{messages:,} watermarks written, all tasks", written, "CPU s", beside="once an interval")
    yield Row(f"{messages:,} watermarks read, heard, kept", heard, "CPU s", beside=_share(written + heard))
    yield Row("books of a task that hears 300 others", text, "characters", beside="in its checkpoint")


def _share(seconds: float) -> str:
    return f"both: {seconds:.2f} of a core's second, when each task moves every second"


def _measured(system: EmbeddedSystem) -> tuple[float, float, float]:
    speakers, readers = _keeping("upstream"), _keeping(STREAM)
    before = {task: Reached() for task in speakers.partitions}
    checkpoints: dict[str, str] = {}
    memory: Memory = {}
    spent = [0.0, 0.0]
    for number in range(1, ROUNDS + 1):
        begun = time.process_time()
        _say(system, speakers, before, number)
        spent[0] += time.process_time() - begun
        begun = time.process_time()
        _hear(system, readers, checkpoints, memory, number)
        spent[1] += time.process_time() - begun
    found = Checkpoint.decode(checkpoints["Partition 0"].encode()).reached
    return spent[0] / ROUNDS, spent[1] / ROUNDS, float(len(found.heard) if found else 0)


def _keeping(stream: str) -> Timekeeping:
    partitions = {f"Partition {n}": (Partition(stream, n),) for n in range(TASKS)}
    reach = Reach({"upstream": 0}, timed=True)
    return Timekeeping(
        run="run",
        model=1,
        since=0,
        interval=1_000,
        partitions=partitions,
        delays={},
        timed=frozenset({"upstream", STREAM}),
        made=frozenset({STREAM}),
        controlled=frozenset(),
        outlets={STREAM: Outlet(PARTITIONS, TASKS, reach)},
        states={},
    )


def _say(system: EmbeddedSystem, keeping: Timekeeping, before: dict[str, Reached], number: int) -> None:
    """Every task has moved, and an interval is over."""
    speaking = Speaking(keeping, 1_000 * number)
    for place, task in enumerate(keeping.partitions):
        news = News({"upstream": 1_000 * number + place}, "", None)
        before[task], _ = speaking.after(task, before[task], news)
    transaction = system.begin("tests", 0)
    for partition, records in speaking.records():
        transaction.append(partition, records)
    transaction.commit()


def _hear(
    system: EmbeddedSystem, keeping: Timekeeping, checkpoints: dict[str, str], memory: Memory, number: int
) -> None:
    """Every task reads its partition, and has its checkpoint written."""
    start = TASKS * (number - 1)
    tasks = tuple(
        TaskOrder(name, n, checkpoints.get(name, ""), (ReadRange(STREAM, n, start, start + TASKS),))
        for n, name in enumerate(keeping.partitions)
    )
    lane = LaneTime(keeping, LaneOrder("processor-0", tasks), 1_000 * number, memory)
    read = Read(STREAM, "main", STREAM, Role.INTERMEDIATE, "json", COLUMNS)
    form = open_format("json", COLUMNS, None)
    for index, task in enumerate(tasks):
        for taken in take(read, form, Asked(task.ranges[0], index, index, {}), system):
            lane.hear(index, Partition(STREAM, index), taken)
    lane.listen(())
    speaking = Speaking(keeping, lane.now)
    for index, task in enumerate(tasks):
        reached, _ = speaking.after(task.name, lane.before[index], lane.news[index])
        checkpoints[task.name] = Checkpoint("run", "", reached=reached).encode().decode()

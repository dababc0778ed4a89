"""A batch of many resident lanes: CPU of the driver's exchange, and bytes that travel.

The lanes are simulated by threads of a few processes, which speak the real protocol over real sockets and do
no work: half of the tasks have rows in each batch, and each of these reports a new checkpoint. Beside it
stands one text of all orders that goes to every lane, as it was before lanes asked for their own.

Told apart are batches whose orders say everything: the first one, that of another model, which has other
tasks, and the one behind the loss of a tenth of the lanes. What else a start, a new model or a loss takes,
plans and fences, is not part of them.
"""

import json
import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from statistics import median

from bench.row import Aim, Compared, Row
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.driver.executors.lane_server import LaneServer
from streamapp_runtime.driver.executors.resident_lanes import ResidentLanes
from streamapp_runtime.driver.garbage_collection import collect_seldom
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange, TaskOrder
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

LANES = (100, 1_000)
TASKS = 10
PROCESSES = 4
BATCHES = 12
COUNTED = 8


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the batches took, those apart whose orders say everything."""

    cpu: float
    seconds: float
    megabytes: float
    whole: Mapping[str, float]  # by what has orders say everything: CPU seconds of that batch


def rows() -> Iterator[Row]:
    """By number of lanes."""
    fewest: _Measured | None = None
    for lanes in LANES:
        measured = _measured(lanes)
        before = len(json.dumps([asdict(lane) for lane in _lanes(lanes, 1)])) * lanes / 1e6
        name = f"{lanes:,} lanes of {TASKS} tasks, half of these with rows"
        most = Aim(most=150) if lanes == max(LANES) else None
        yield Row(
            f"{name}: driver",
            measured.cpu * 1e3,
            "ms of CPU",
            most,
            f"{measured.seconds * 1e3:.0f} ms of the clock",
        )
        bytes_aim = Aim(most=3) if lanes == max(LANES) else None
        compared = Compared("one text of all orders to each lane", before)
        yield Row(f"{name}: orders and reports", measured.megabytes, "MB", bytes_aim, compared=compared)
        times = lanes // min(LANES)
        for what, cpu in measured.whole.items():
            beside = f"{times} times {min(LANES)} lanes"
            linear = Compared(beside, times * fewest.whole[what] * 1e3) if fewest else None
            yield Row(f"{lanes:,} lanes, {what}: driver", cpu * 1e3, "ms of CPU", compared=linear)
        fewest = fewest or measured


@dataclass(frozen=True, slots=True)
class _ServingProcesses:
    """The processes that serve all lanes."""

    processes: Sequence[SpawnProcess]

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Return when the process of a lane has ended."""
        ready()
        share = len(self.processes)
        self.processes[number % share].join()

    def lives(self, processor: str) -> bool:
        """Always: nothing ends them but this bench."""
        return True

    def cancel(self) -> None:
        """End all of them."""
        for process in self.processes:
            process.terminate()


def _measured(lanes: int) -> _Measured:
    collect_seldom()  # as the process of a driver does
    spawned = multiprocessing.get_context("spawn")
    with closing(LaneServer()) as server:
        address = server.bind()
        share = lanes // PROCESSES
        pipes, children = [], []
        for number in range(PROCESSES):
            ours, theirs = spawned.Pipe()
            own = range(number * share, (number + 1) * share)
            children.append(spawned.Process(target=_serve, args=(address, own, theirs), daemon=True))
            children[-1].start()
            pipes.append(ours)

        processors = [_processor(lane) for lane in range(lanes)]
        exchange = ResidentLanes(_ServingProcesses(children), processors, server)
        cpu, seconds = [], []

        def run(incarnation: int, batch: int, orders: Sequence[LaneOrder]) -> None:
            begun, used = time.perf_counter(), time.process_time()
            reports = exchange.run(Orders(incarnation, batch, batch, tuple(orders)))
            cpu.append(time.process_time() - used)
            seconds.append(time.perf_counter() - begun)
            if len(reports) != len(orders) * TASKS:
                raise AssertionError(f"{len(reports)} reports of {len(orders) * TASKS} tasks")

        with closing(exchange):
            for batch in range(1, BATCHES + 1):
                run(1, batch, _lanes(lanes, batch))
            settled_cpu, settled_seconds = median(cpu[-COUNTED:]), median(seconds[-COUNTED:])
            run(2, BATCHES + 1, _lanes(lanes, BATCHES + 1, "Moved"))
            tenth = processors[: lanes // 10]
            used = time.process_time()
            exchange.drop(tenth)
            drop_cpu = time.process_time() - used
            run(3, BATCHES + 2, _lanes(lanes, BATCHES + 2, "Moved")[len(tenth) :])
        traffic = [pipe.recv() for pipe in pipes]
    first_cpu, (model_cpu, loss_cpu) = cpu[0], cpu[-2:]
    whole = {
        "the first batch": first_cpu,
        "the batch of another model": model_cpu,
        "the batch behind the loss of a tenth": drop_cpu + loss_cpu,
    }
    return _Measured(settled_cpu, settled_seconds, sum(traffic) / 1e6, whole)


def _lanes(lanes: int, batch: int, tasks: str = "Partition") -> tuple[LaneOrder, ...]:
    """Every second task has rows; its checkpoint is what it reported for the batch before."""
    idle = TaskOrder("", 0, _checkpoint(0))
    busy = replace(
        idle,
        checkpoint=_checkpoint(batch - 1),
        ranges=(ReadRange("views", 0, batch * 100, batch * 100 + 50),),
    )
    return tuple(
        LaneOrder(
            _processor(lane),
            tuple(
                replace(idle if n % 2 else busy, name=f"{tasks} {lane * TASKS + n}", changelog=n)
                for n in range(TASKS)
            ),
        )
        for lane in range(lanes)
    )


def _processor(lane: int) -> str:
    return f"processor-{lane}"


def _checkpoint(batch: int) -> str:
    """Of a task that reads one partition and keeps one table."""
    positions = {Partition("views", 0): batch * 100 + 50}
    return Checkpoint("0123456789abcdef", f"1.{batch}.0", positions, {"totals": batch}).encode().decode()


def _serve(address: LaneAddress, lanes: range, results: Connection) -> None:
    """Lanes of one process; their bytes in the last of the batches that are like each other."""
    counted = [0] * len(lanes)

    def serve(index: int) -> None:
        memory, served = OrderMemory(), 0
        with DriverConnection.open(address) as driver:
            while (order := driver.next_order(lanes[index], served)) is not None:
                orders = memory.decode(order)
                served = orders.batch
                reports = [
                    TaskReport(
                        task.name,
                        TaskStatus.COMMITTED,
                        _checkpoint(served) if task.ranges else "",
                        rows_in=50 if task.ranges else 0,
                    )
                    for task in orders.lane.tasks
                ]
                memory.note(reports)
                fields = [report.fields() for report in reports]
                if served <= BATCHES:
                    counted[index] = len(order) + len(json.dumps(fields, separators=(",", ":")))
                driver.report(lanes[index], served, fields)

    threads = [threading.Thread(target=serve, args=(index,)) for index in range(len(lanes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.send(sum(counted))

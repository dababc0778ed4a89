"""Writes the orders of a batch: every lane, its tasks, and what each of them reads."""

from collections.abc import Sequence

from streamapp_runtime.driver.batches.backlog import Backlog, RemainingInput
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange, TaskOrder


def lane_orders(
    backlog: Backlog,
    lanes: Lanes,
    seats: Sequence[str],
    given: Sequence[PendingRange],
    batch: str,
    remaining: RemainingInput,
) -> tuple[LaneOrder, ...]:
    """The orders of each lane in a batch of this name; `seats` are empty where there is one process."""
    checkpoints, sides = backlog.ledger.checkpoints, backlog.sides()
    shared = backlog.fillings.shared(batch, given)
    ranges: dict[str, list[ReadRange]] = {}
    for demand in sorted(given, key=lambda d: (d.partition, d.start)):
        asked = ReadRange(demand.partition.stream, demand.partition.index, demand.start, demand.end)
        ranges.setdefault(demand.task, []).append(asked)
    changelog = backlog.launch.assignment.layout.changelog
    return tuple(
        LaneOrder(
            processor,
            tuple(
                TaskOrder(
                    task,
                    changelog[task],
                    checkpoints.get(task, ""),
                    tuple(ranges.get(task, ())),
                    sides.get(task, ()),
                    remaining.behind.get(task, ()),
                    remaining.ended.get(task, ()),
                    remaining.inherited.get(task, ""),
                )
                for task in tasks
            ),
            seat,
            shared.get(processor, ()),
        )
        for (processor, tasks), seat in zip(lanes.items(), seats or ("",) * len(lanes), strict=True)
    )

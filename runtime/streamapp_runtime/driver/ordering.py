"""Writes the orders of a batch: every lane, its tasks, and what each of them reads."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp_runtime.driver.flow import Demand
from streamapp_runtime.driver.launch import Launch
from streamapp_runtime.driver.roster import Lanes
from streamapp_runtime.lanes.orders import LaneOrder, ReadRange, SidePartition, TaskOrder


def lane_orders(
    launch: Launch,
    lanes: Lanes,
    checkpoints: Mapping[str, str],
    seats: Sequence[str],
    given: Iterable[Demand],
    sides: Mapping[str, tuple[SidePartition, ...]],
) -> tuple[LaneOrder, ...]:
    """The orders of each lane; `seats` are empty where there is one process."""
    ranges: dict[str, list[ReadRange]] = {}
    for demand in sorted(given, key=lambda d: (d.partition, d.start)):
        asked = ReadRange(demand.partition.stream, demand.partition.index, demand.start, demand.end)
        ranges.setdefault(demand.task, []).append(asked)
    changelog = launch.assignment.layout.changelog
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
                )
                for task in tasks
            ),
            seat,
        )
        for (processor, tasks), seat in zip(lanes.items(), seats or ("",) * len(lanes), strict=True)
    )

"""Writes the orders of a batch: every lane, its tasks, and what each of them reads."""

from collections.abc import Mapping, Sequence

from streamapp_runtime.driver.bad_records.rejection_history import RejectionHistory
from streamapp_runtime.driver.batches.backlog import Backlog, RemainingInput
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.state_queries.state_queries import QueryOrders
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, ReadRange, TaskOrder


def lane_orders(
    backlog: Backlog,
    lanes: Lanes,
    executor_ids: Mapping[str, str],
    ranges: Sequence[PendingRange],
    batch: str,
    remaining: RemainingInput,
    rejections: RejectionHistory,
    queries: QueryOrders,
) -> tuple[LaneOrder, ...]:
    """The orders of each lane in a batch of this name; no `executor_ids` where there is one process."""
    checkpoints, side_partitions = backlog.ledger.checkpoints, backlog.side_partitions()
    broadcast_orders = backlog.side_inputs.broadcast_orders(lanes, batch, ranges)
    unreported = backlog.side_inputs.unreported
    read_ranges = {task: list(spans.values()) for task, spans in unreported.items()}
    for one in sorted(ranges, key=lambda r: (r.partition, r.start)):
        read_range = ReadRange(one.partition.stream, one.partition.index, one.start, one.end)
        read_ranges.setdefault(one.task, []).append(read_range)
    changelog = backlog.launch.assignment.layout.changelog
    return tuple(
        LaneOrder(
            processor,
            tuple(
                TaskOrder(
                    task,
                    changelog[task],
                    checkpoints.get(task, ""),
                    tuple(read_ranges.get(task, ())),
                    side_partitions.get(task, ()),
                    remaining.behind.get(task, ()),
                    remaining.ended.get(task, ()),
                    remaining.inherited.get(task, ""),
                    rejections.of(task),
                )
                for task in tasks
            ),
            executor_ids.get(processor, ""),
            broadcast_orders.get(processor, ()),
            queries.by_lane.get(processor, ()),
            queries.snapshots,
        )
        for processor, tasks in lanes.items()
    )

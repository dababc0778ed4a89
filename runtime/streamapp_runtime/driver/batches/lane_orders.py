"""Writes the orders of a batch: every lane, its tasks, and what each of them reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from streamapp_runtime.driver.bad_records.bad_record_search import BadRecordSearch
from streamapp_runtime.driver.bad_records.rejection_history import RejectionHistory
from streamapp_runtime.driver.batches.backlog import Backlog, RemainingInput
from streamapp_runtime.driver.batches.hosted_lanes import HostedLanes
from streamapp_runtime.driver.executors.lane_assignment import Lanes
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.driver.state_queries.state_queries import QueryOrders, StateQueries
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange, TaskOrder


@dataclass(slots=True)
class OrderWriter:
    """Numbers batches, and writes the orders of all lanes that are idle."""

    lanes: HostedLanes
    backlog: Backlog
    bad_records: BadRecordSearch
    queries: StateQueries
    clock: Callable[[], int]  # milliseconds
    rejections: RejectionHistory = field(default_factory=RejectionHistory)
    number: int = 0  # of the last batch

    def orders(
        self,
        ranges: Sequence[PendingRange] = (),
        *,
        pending: Sequence[PendingRange] | None = None,
        release: bool = False,
        trial: bool = False,
    ) -> Orders:
        """The orders of the next batch; none are given to lanes that are at work."""
        self.number += 1
        incarnation, runner = self.backlog.ledger.incarnation, self.lanes.runner
        supervisor, busy_lanes = self.lanes.supervisor, runner.lanes
        lanes = {name: tasks for name, tasks in supervisor.lanes.items() if name not in busy_lanes}
        orders = lane_orders(
            self.backlog,
            lanes,
            executor_ids=supervisor.executors.executor_ids,
            ranges=ranges,
            batch=f"{incarnation}-{self.number}",
            remaining=RemainingInput() if pending is None else self.backlog.remaining(pending, ranges),
            rejections=self.rejections,
            queries=self.queries.orders(lanes, together=runner.together),
        )
        known = self.bad_records.known(ranges)
        return Orders(incarnation, self.number, self.clock(), orders, release, known, trial)


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

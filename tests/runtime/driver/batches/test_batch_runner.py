"""Rounds over the real exchange and lane server; threads serve lanes, and report when a test lets them."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from queue import SimpleQueue

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.batches import batch_runner
from streamapp_runtime.driver.batches.batch_runner import FinishedOrders, LaneRounds, OrderedBatch
from streamapp_runtime.driver.executors.batch_exchange import LaneLostError
from streamapp_runtime.driver.executors.lane_server import LaneServer
from streamapp_runtime.driver.executors.resident_lanes import ResidentLanes
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.connection.driver_connection import DriverConnection
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, TaskOrder
from streamapp_runtime.lanes.protocol.order_codec import OrderMemory
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

NAMES = ("processor-0", "processor-1", "processor-2")
SECONDS = 20.0


@dataclass(slots=True)
class Lanes:
    """Three lanes of one task each."""

    server: LaneServer
    may_report: tuple[SimpleQueue[bool], ...] = field(
        default_factory=lambda: tuple(SimpleQueue() for _ in NAMES)
    )
    served: list[tuple[int, int]] = field(default_factory=list)  # lane and batch
    address: LaneAddress = field(init=False)
    exchange: ResidentLanes = field(init=False)
    rounds: LaneRounds = field(init=False)
    watched: list[int] = field(default_factory=list)  # batches whose watch was closed

    def start(self) -> None:
        self.address = self.server.bind()
        self.exchange = ResidentLanes(self, NAMES, self.server)
        self.rounds = LaneRounds(self.exchange, self)

    def run(self, batch: int, *lanes: int) -> Iterator[FinishedOrders]:
        """A round of these lanes."""
        orders = Orders(
            1, batch, 0, tuple(LaneOrder(NAMES[n], (TaskOrder(f"task {n}", n, ""),)) for n in lanes)
        )
        ranges = [PendingRange(f"task {n}", Partition("events", n), 0, batch) for n in lanes]
        return self.rounds.run(OrderedBatch(orders, ranges, ranges))

    @contextmanager
    def over(self, number: int, seconds: float | None) -> Iterator[str]:
        """Watch a batch until all its lanes have reported."""
        try:
            yield ""
        finally:
            self.watched.append(number)

    def let_report(self, *lanes: int) -> None:
        for lane in lanes:
            self.may_report[lane].put(True)

    def lose(self, lane: int) -> None:
        """Have a lane end without a report."""
        self.may_report[lane].put(False)

    def lives(self, processor: str) -> bool:
        return True

    def cancel(self) -> None:
        for lane in range(3):
            self.lose(lane)

    def serve(self, number: int, processor: str, ready: Callable[[], None]) -> None:
        """Serve a lane as its worker would."""
        memory, after = OrderMemory(), 0
        ready()
        with DriverConnection.open(self.address) as driver:
            while (order := driver.next_order(number, after)) is not None:
                after = memory.decode(order).batch
                if not self.may_report[number].get():
                    return
                self.served.append((number, after))
                driver.report(number, after, [TaskReport(f"task {number}", TaskStatus.COMMITTED).fields()])


@pytest.fixture
def lanes() -> Iterator[Lanes]:
    with closing(LaneServer()) as server:
        started = Lanes(server)
        started.start()
        yield started
        started.cancel()
        started.rounds.exchange.close()


def finished_lanes(results: Iterator[FinishedOrders]) -> list[str]:
    return [name for finished in results for name in sorted(finished.lanes)]


@pytest.mark.usefixtures("loopback")
def test_a_round_whose_lanes_keep_pace_ends_with_all_of_them(
    lanes: Lanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_runner, "LEAST_PATIENCE_SECONDS", SECONDS)  # a busy machine may hold a lane up
    lanes.let_report(0, 1, 2)
    assert sorted(finished_lanes(lanes.run(1, 0, 1, 2))) == list(NAMES)
    assert lanes.rounds.lanes == frozenset()
    assert lanes.watched == [1]


@pytest.mark.usefixtures("loopback")
def test_a_round_ends_without_a_lane_that_takes_much_longer_than_half_of_them(lanes: Lanes) -> None:
    lanes.let_report(0, 1)
    assert sorted(finished_lanes(lanes.run(1, 0, 1, 2))) == list(NAMES[:2])
    assert lanes.rounds.lanes == {NAMES[2]}
    assert lanes.rounds.tasks == {"task 2"}
    assert [one.task for one in lanes.rounds.ranges] == ["task 2"]
    assert lanes.watched == [], "the batch is watched while a lane is at it"


@pytest.mark.usefixtures("loopback")
def test_further_rounds_go_by_and_a_late_report_is_heard_with_what_it_is_about(lanes: Lanes) -> None:
    lanes.let_report(0, 1)
    finished_lanes(lanes.run(1, 0, 1, 2))
    for batch in (2, 3):
        lanes.let_report(0, 1)
        assert sorted(finished_lanes(lanes.run(batch, 0, 1))) == list(NAMES[:2])
    lanes.let_report(2)
    late = lanes.rounds.receive(SECONDS)
    assert late is not None
    assert late.lanes == {NAMES[2]}
    assert late.ranges == (PendingRange("task 2", Partition("events", 2), 0, 1),)
    assert lanes.watched == [2, 3, 1]
    assert lanes.served == sorted(lanes.served, key=lambda one: one[1] if one[0] != 2 else 4)


@pytest.mark.usefixtures("loopback")
def test_nothing_is_waited_for_when_no_lane_is_at_work(lanes: Lanes) -> None:
    assert lanes.rounds.receive() is None


@pytest.mark.usefixtures("loopback")
def test_a_lane_that_is_lost_while_others_work_is_an_error_and_all_watches_end(lanes: Lanes) -> None:
    lanes.let_report(0, 1)
    finished_lanes(lanes.run(1, 0, 1, 2))
    lanes.cancel()
    with pytest.raises((LaneLostError, OSError)) as lost:
        lanes.rounds.receive(SECONDS)
    with pytest.raises(OSError, match="lane"):
        lanes.rounds.abandon(lost.value)
    assert lanes.watched == [1]
    assert lanes.rounds.lanes == frozenset()


@pytest.mark.usefixtures("loopback")
def test_a_lane_whose_host_is_silent_is_lost_alone_and_is_not_heard_when_it_wakes_up(lanes: Lanes) -> None:
    lanes.let_report(0, 1)
    finished_lanes(lanes.run(1, 0, 1, 2))
    lanes.exchange.lose(NAMES[2:])
    with pytest.raises(LaneLostError, match="the lane of processor-2 was lost: its executor does not answer"):
        lanes.rounds.receive(SECONDS)
    lanes.rounds.abandon()
    assert lanes.exchange.lost == {NAMES[2]}
    lanes.exchange.drop(NAMES[2:])
    lanes.let_report(2, 0, 1)
    assert sorted(finished_lanes(lanes.run(2, 0, 1))) == list(NAMES[:2])
    assert lanes.rounds.receive() is None


@pytest.mark.usefixtures("loopback")
def test_a_lane_that_is_idle_is_not_lost_with_its_host(lanes: Lanes) -> None:
    lanes.let_report(0, 1, 2)
    finished_lanes(lanes.run(1, 0, 1, 2))
    while lanes.rounds.lanes:  # on a busy machine a round may not wait for all of them
        lanes.rounds.receive()
    lanes.exchange.lose(NAMES)
    lanes.let_report(0, 1, 2)
    finished_lanes(lanes.run(2, 0, 1, 2))
    assert lanes.exchange.lost == frozenset()

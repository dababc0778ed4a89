"""A watch beside a batch: what workers tell of their steps arrives, and a batch whose time is over ends."""

import threading
import time
from dataclasses import dataclass, field
from socket import AF_INET, SOCK_DGRAM, socket

import pytest

from streamapp_runtime.driver.batches.batch_watch import BatchWatch, watched_calls
from streamapp_runtime.driver.executors.executor_probe import PATIENCE_SECONDS
from streamapp_runtime.driver.failures import BatchTimeoutError
from streamapp_runtime.lanes.batches.step_beacon import StepBeacon
from streamapp_runtime.lanes.batches.step_times import StepTimes
from streamapp_runtime.systems.stream_system import SystemTrouble
from tests.harness.machine.processes import until


@dataclass
class Batch:
    """One that ends when it is cancelled."""

    cancelled: threading.Event = field(default_factory=threading.Event)
    slow: list[str] = field(default_factory=list)
    waits: list[tuple[str, str]] = field(default_factory=list)
    looks: list[float] = field(default_factory=list)  # seconds since the batch began
    begun: float = field(default_factory=time.monotonic)

    @property
    def watch(self) -> BatchWatch:
        local = "127.0.0.1", "127.0.0.1"
        return BatchWatch(*local, self.cancelled.set, self.slow.append, self._wait, self._look)

    def _look(self) -> None:
        self.looks.append(time.monotonic() - self.begun)

    def _wait(self, lane: str, reason: str) -> None:
        self.waits.append((lane, reason))


@pytest.mark.usefixtures("loopback")
def test_a_batch_whose_time_is_over_is_ended_and_the_operator_that_has_it_is_named() -> None:
    batch, beacon, times = Batch(), StepBeacon(lambda: None), StepTimes()
    expected = "the batch had not ended after 3 s: processor-1 has been in picky for"
    with (
        pytest.raises(BatchTimeoutError, match=expected),
        batch.watch.over(7, 3.0) as address,
        beacon.during(address, "processor-1", times),
        times.of("picky"),
    ):
        assert batch.cancelled.wait(60)
        raise EOFError("the job was cancelled")
    beacon.close()
    (slow,) = batch.slow
    assert slow.startswith("batch 7 has taken 2 s so far: processor-1 has been in picky for")
    assert min(batch.looks) >= PATIENCE_SECONDS
    assert not batch.waits


@pytest.mark.usefixtures("loopback")
def test_what_brokers_keep_a_lane_from_is_said_while_the_lane_waits() -> None:
    trouble = SystemTrouble("10.0.0.1:9092 does not answer", 0.0)
    batch, beacon, times = Batch(), StepBeacon(lambda: trouble), StepTimes()
    with (
        batch.watch.over(7, None) as address,
        beacon.during(address, "processor-1", times),
        times.of("views"),
    ):
        until(lambda: batch.waits, limit=60)
    beacon.close()
    assert set(batch.waits) == {("processor-1", "processor-1 is in views: 10.0.0.1:9092 does not answer")}


@pytest.mark.usefixtures("process")
def test_datagrams_of_strangers_keep_no_batch_from_its_end_and_say_nothing() -> None:
    batch = Batch()
    with (
        pytest.raises(BatchTimeoutError, match="no lane says"),
        batch.watch.over(7, 1.0) as address,
        socket(AF_INET, SOCK_DGRAM) as stranger,
    ):
        at, _, token = address.rpartition("/")
        place = "127.0.0.1", int(at.rpartition(":")[2])
        step = '{"lane": "processor-1", "step": "views", "seconds": 2, "trouble": "none"}'
        for sent in (
            step,
            f"{token[1:]}\n{step}",
            f"{token}\n{'[' * 1_005}",
            f'{token}\n{{"seconds": 1e999}}',
        ):
            stranger.sendto(sent.encode(), place)
        assert batch.cancelled.wait(60)
        raise EOFError("the job was cancelled")
    assert not batch.waits


@pytest.mark.usefixtures("process")
def test_what_the_driver_waits_for_itself_is_said_until_the_watch_ends() -> None:
    trouble, heard = SystemTrouble("nobody leads views#0", 0.0), list[SystemTrouble]()
    with watched_calls(lambda: trouble, heard.append):
        until(lambda: heard, limit=60)
    assert heard[0] is trouble
    assert "call-watch" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.usefixtures("loopback")
def test_where_no_lane_says_what_it_does_that_is_told() -> None:
    batch = Batch()
    with pytest.raises(BatchTimeoutError, match="no lane says"), batch.watch.over(7, 0.5):
        assert batch.cancelled.wait(60)
        raise EOFError("the job was cancelled")


@pytest.mark.usefixtures("loopback")
def test_what_a_batch_raises_in_its_time_stays_what_it_is() -> None:
    batch = Batch()
    with pytest.raises(EOFError), batch.watch.over(7, 60.0):
        raise EOFError("a worker is lost")
    assert not batch.cancelled.is_set()


@pytest.mark.usefixtures("loopback")
def test_a_batch_without_a_bound_is_never_ended() -> None:
    batch = Batch()
    with batch.watch.over(7, None) as address:
        assert address.startswith("127.0.0.1:")
    assert not batch.cancelled.is_set()

"""A driver that makes no progress says so, or does not answer; one that waits says for what."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.imports.table_import import ImportProgress
from streamapp_runtime.driver.reporting.driver_liveness import LATELY_SECONDS, DriverLiveness
from tests.harness.kafka.broker import Broker
from tests.harness.machine.processes import Child, until
from tests.harness.runs import page_views_run
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.page_views_run import PageViews
from tests.harness.runs.run_systems import ON_SPARK

PATIENCE_SECONDS = 120.0
STEP_SECONDS = 2.0


class WatchedDriver:
    """A run that is asked whether it makes progress, as a kubelet asks."""

    def __init__(self, child: Child) -> None:
        self.child = child
        until(lambda: child.said().count("\n") > 0, PATIENCE_SECONDS, child)
        self.url = urlsplit(child.said().splitlines()[0])

    def answer(self, seconds: float = 20.0) -> tuple[int, str]:
        """Status and text; a TimeoutError where none comes."""
        connection = HTTPConnection(str(self.url.hostname), self.url.port, timeout=seconds)
        try:
            connection.request("GET", f"{self.url.path}?{self.url.query}")
            reply = connection.getresponse()
            return reply.status, reply.read().decode().strip()
        finally:
            connection.close()

    def comes_to(self, status: int, text: str) -> None:
        def there() -> bool:
            answered, words = self.answer()
            return answered == status and text in words

        until(there, PATIENCE_SECONDS, self.child)

    def java(self) -> int:
        """The process of its JVM."""
        children = Path(f"/proc/{self.child.pid}/task/{self.child.pid}/children").read_text("utf-8").split()
        (pid,) = [int(pid) for pid in children if "java" in Path(f"/proc/{pid}/cmdline").read_text("utf-8")]
        return pid


@contextmanager
def watched(file: str | Path, data: Path, step_seconds: float = STEP_SECONDS) -> Iterator[WatchedDriver]:
    command = [sys.executable, "-m", "tests.harness.child_processes.watched_driver"]
    with Child([*command, file, data, str(step_seconds)], data / "driver.log") as child:
        yield WatchedDriver(child)


@contextmanager
def running(env: AppEnv, made: StreamApp) -> Iterator[WatchedDriver]:
    with watched(env.command(made)[2], env.data) as driver:
        yield driver


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def copying(**spec: object) -> StreamApp:
    sent = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}
    columns = "user STRING, n INT"
    return app(sent, streams=[{"name": "events", "key": "user", "columns": columns}, {"name": "out"}], **spec)


@pytest.fixture
def clock() -> Iterator[list[float]]:
    yield [0.0]


def test_a_step_may_take_as_long_as_it_asks_for_and_then_no_longer(clock: list[float]) -> None:
    liveness = DriverLiveness(lambda: clock[0], step_seconds=10, start_seconds=100)
    liveness.step_started("runs batch 1-1", 600)
    clock[0] = 609
    assert liveness.answer() == (True, "runs batch 1-1, for 609 s")
    clock[0] = 611
    assert liveness.answer() == (False, "no progress: runs batch 1-1, for 611 s")
    liveness.step_started("looks for records", 0)
    assert liveness.answer()[0]


def test_a_batch_without_a_timeout_is_never_late(clock: list[float]) -> None:
    liveness = DriverLiveness(lambda: clock[0])
    liveness.step_started("runs batch 1-1", None)
    clock[0] = 1e6
    assert liveness.answer()[0]


def test_an_import_is_alive_as_long_as_rows_come(clock: list[float]) -> None:
    liveness = DriverLiveness(lambda: clock[0], step_seconds=10, start_seconds=100)
    for clock[0] in range(0, 1_000, 50):
        liveness.import_progressed(ImportProgress("sales", int(clock[0])))
        assert liveness.answer()[0]
    clock[0] += 111
    assert liveness.answer() == (False, "no progress: imports sales, for 1061 s")


def test_what_is_waited_for_keeps_the_time_since_when_it_is(clock: list[float]) -> None:
    liveness = DriverLiveness(lambda: clock[0], step_seconds=10)
    for clock[0] in range(0, 300, 5):
        liveness.step_started("waits for the streams' system: no broker answers", 0)
    assert liveness.answer() == (True, "waits for the streams' system: no broker answers, for 295 s")


def test_a_driver_that_was_late_lately_may_be_asked_to_end_for_that(clock: list[float]) -> None:
    liveness = DriverLiveness(lambda: clock[0], step_seconds=10, start_seconds=100)
    assert not liveness.was_late
    clock[0] = 120
    liveness.answer()
    assert liveness.was_late
    clock[0] += LATELY_SECONDS + 1
    assert not liveness.was_late


@ON_SPARK
def test_a_driver_that_is_stopped_does_not_answer(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "a", "n": 1}], "user"), partitions=1)
    with running(env, copying()) as driver:
        driver.comes_to(200, "looks for records")
        with stopped(driver.child.pid), pytest.raises(TimeoutError):
            driver.answer(seconds=1)
        driver.comes_to(200, "looks for records")


@pytest.mark.nightly
@ON_SPARK
def test_a_loop_that_waits_for_a_stopped_jvm_is_late(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "a", "n": 1}], "user"), partitions=1)
    with running(env, copying()) as driver:
        driver.comes_to(200, "looks for records")
        with stopped(driver.java()):
            driver.comes_to(503, "no progress: looks for records")
        driver.comes_to(200, "looks for records")


@ON_SPARK
def test_a_loop_that_an_own_function_holds_up_is_late(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "a", "n": 1}], "user"), partitions=1)
    grouper = "tests.harness.user_code.grouper_code:lingering"
    made = copying(grouper=grouper, monitor={"interval": "1s"}, onPartitionChange="live")
    with running(env, made) as driver:
        driver.comes_to(200, "looks for records")
        env.grow("events", 2)
        driver.comes_to(503, "no progress: looks for records")
        driver.comes_to(200, "looks for records")


@ON_SPARK
def test_a_batch_that_takes_longer_than_a_step_makes_progress_while_its_timeout_allows(env: AppEnv) -> None:
    env.write("events", inputs([{"user": "a", "n": 13}], "user"), partitions=1)
    columns = "user STRING, n INT"
    code = "tests.harness.user_code.graph_code:hanging"
    mapped = {"name": "mapped", "map": {"from": "events", "python": code, "columns": columns}}
    sent = {"name": "sent", "sendTo": {"from": "mapped", "stream": "out"}}
    made = app(mapped, sent, streams=[{"name": "events", "key": "user", "columns": columns}, {"name": "out"}])
    with running(env, made) as driver:
        driver.comes_to(200, "runs batch")

        def in_one_batch() -> bool:
            status, text = driver.answer()
            assert status == 200
            return text.startswith("runs batch") and int(text.split()[-2]) > 3 * STEP_SECONDS

        until(in_one_batch, PATIENCE_SECONDS, driver.child)
        driver.child.signal(signal.SIGKILL)


def test_a_driver_whose_broker_is_away_makes_progress_and_says_what_it_waits_for(
    broker: Broker, tmp_path: Path
) -> None:
    views = PageViews(broker.bootstrap, "away", tmp_path / "app")
    views.prepare()
    views.view(100)
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(page_views_run.app(broker.bootstrap, "away")), "utf-8")
    with watched(file, tmp_path, step_seconds=60) as driver:
        driver.comes_to(200, "looks for records")
        broker.kill()
        driver.comes_to(200, "waits for the streams' system: ")
        _holds(lambda: driver.answer()[0] == 200, 3)
        broker.start()
        driver.comes_to(200, "looks for records")


def _holds(condition: Callable[[], bool], seconds: float) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        assert condition()
        time.sleep(0.5)

"""A driver that has read all waits to be told of records, and looks no more often than it has to."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.inputs.batch_pacing import LONGEST_WAIT_SECONDS
from streamapp_runtime.driver.wake_up import WakeUp
from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import AppEnv, app, inputs, write_all
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.run_systems import kafka as on_kafka
from tests.harness.runs.run_systems import no_session

LATENCY_SECONDS = 0.05
MOST_LOOKS = 100
PASSING = app(
    {"name": "out", "sendTo": {"from": "lines", "stream": "copied"}},
    streams=[{"name": "lines", "columns": "text STRING"}, {"name": "copied"}],
    batch={"latency": "50ms"},
)


@pytest.fixture
def env(kafka: str, tmp_path: Path) -> Iterator[AppEnv]:
    with on_kafka(no_session(), tmp_path, KafkaConnection(kafka)) as env:
        yield env


@pytest.fixture
def idle_loop(env: AppEnv) -> Loop:
    """A loop that has read all, and whose last batch is longer ago than its latency."""
    env.write("lines", inputs([{"text": "first"}]), partitions=1)
    _, launch = env.launched(PASSING, 1)
    loop = env.loop(CurrentRun.of(launch))
    loop.start()
    drain(loop)
    until(lambda: loop.step() is None and loop.planner.idle, limit=60)
    until(lambda: not loop.planner.rest_seconds, limit=60)
    return loop


def waited(loop: Loop, wake: WakeUp | None = None) -> tuple[float, list[float]]:
    """How long the loop waited to be told of input, and how long it is to rest where it was told of none."""
    rests: list[float] = []
    begun = time.monotonic()
    loop.planner.await_input(rests.append, wake)
    return time.monotonic() - begun, rests


def test_who_has_read_all_waits_for_the_longest_time_and_rests_no_more(idle_loop: Loop) -> None:
    seconds, rests = waited(idle_loop)
    assert seconds > LONGEST_WAIT_SECONDS * 0.9
    assert rests == []


def test_a_record_is_told_of_and_read(env: AppEnv, idle_loop: Loop, kafka: str) -> None:
    with closing(KafkaSystem(kafka)) as other:
        given = (other, f"{env.prefix}lines", inputs([{"text": "second"}]), 1, f"{env.prefix}others")
        later = Timer(LONGEST_WAIT_SECONDS / 2, write_all, given)
        later.start()
        begun = time.monotonic()
        looks = rows = 0
        while not rows and looks < MOST_LOOKS:
            _, rests = waited(idle_loop)
            assert rests == []
            batch = idle_loop.step()
            looks, rows = looks + 1, batch.rows_in if batch is not None else 0
        seconds = time.monotonic() - begun
        later.join()
    assert rows == 1
    assert looks <= seconds / LONGEST_WAIT_SECONDS + 2  # each waits its time, but for the last


def test_a_query_ends_the_wait_once(idle_loop: Loop) -> None:
    wake = WakeUp()
    wake.set()
    seconds, rests = waited(idle_loop, wake)
    assert seconds < LONGEST_WAIT_SECONDS * 0.9
    assert rests == []
    assert not wake.wait(0)

"""With `delivery: atLeastOnce` outputs are there before positions are: kills repeat some, and lose none."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import StreamOptions
from tests.harness.kafka.clients import QUIET, created
from tests.harness.kafka.topic_records import committed
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.page_views_run import USERS, PageViews
from tests.harness.runs.run_systems import ON_KAFKA

Make = Callable[[str, bool], PageViews]


@pytest.fixture
def make(kafka: str, tmp_path: Path) -> Iterator[Make]:
    made: list[PageViews] = []

    def make(name: str, counted: bool) -> PageViews:
        made.append(PageViews(kafka, name, tmp_path, "atLeastOnce", counted))
        made[0].prepare()
        return made[0]

    yield make
    made[0].kill()


@pytest.mark.parametrize("isolation", ["read_committed", "read_uncommitted"])
@pytest.mark.parametrize("way", ["state", "without-state"])
def test_a_reader_sees_what_a_lane_wrote_that_never_came_to_its_commit(
    kafka: str, tmp_path: Path, way: str, isolation: str
) -> None:
    output, owner = created(kafka), f"{way}.{isolation}.checkpoint"
    with closing(KafkaSystem(kafka)) as system:
        system.create(owner, 1, StreamOptions(compacted=True))
        (tmp_path / "transaction.handed-out").touch()
        command = [
            sys.executable,
            "-m",
            "tests.harness.child_processes.at_least_once_lane",
            kafka,
            output,
            owner,
            way,
        ]
        lane = subprocess.run(command, env=os.environ | {VARIABLE: str(tmp_path)}, check=False)
        assert lane.returncode == -signal.SIGKILL
        assert first_value(kafka, output, isolation) == b"early"
        system.interrupt(owner, ["lane"])
        assert system.latest(owner) == {}


def first_value(address: str, topic: str, isolation: str) -> bytes | None:
    settings = {"bootstrap.servers": address, "group.id": "witness", "isolation.level": isolation, **QUIET}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        message = consumer.poll(60)
        assert message is not None, "nothing came"
        assert message.error() is None
        return message.value()
    finally:
        consumer.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "counted"),
    [pytest.param("without-state", False, marks=pytest.mark.nightly), ("with-state", True)],
)
def test_kills_repeat_rows_and_lose_none_and_delivery_may_change_back_and_forth(
    make: Make, name: str, counted: bool
) -> None:
    app = make(name, counted)
    app.view(2_000)
    app.start()
    app.until(lambda: written(app) >= set(app.expected()))

    dies = app.crash_at("transaction.handed-out")  # with all of a batch there, and no position of it
    app.view(1_000)
    app.until(lambda: not dies.exists())
    app.until(lambda: written(app) >= set(app.expected()))

    os.kill(app.victims()["worker"][0], 9)
    app.view(1_000)
    app.until(lambda: written(app) >= set(app.expected()))

    dies = app.crash_at("commit.after.processor-0")  # committed, and nobody has heard of it
    app.view(500)
    app.until(lambda: not dies.exists())
    app.kill()

    app.delivery = "exactlyOnce"
    app.say()
    app.view(500)
    app.start("--until-end")
    assert app.end() == 0, app.said()
    assert written(app) == set(app.expected())

    repeated, before = rows(app).total(), app.written
    app.view(500)
    app.delivery = "atLeastOnce"
    app.say()
    app.start("--until-end")
    assert app.end() == 0, app.said()
    assert written(app) == set(app.expected())
    fresh = [n for n in app.expected() if n >= before]
    assert rows(app).total() == repeated + len(fresh), "nobody was killed, and rows were repeated"
    if counted:
        assert totals(app) == expected_totals(app)


@ON_KAFKA
def test_a_busy_driver_ends_soon_after_another_has_taken_over(env: AppEnv) -> None:
    """No commit of its lanes is refused: they write without a transaction."""
    made = app(
        {"name": "sent", "sendTo": {"from": "events", "stream": "out"}},
        streams=[{"name": "events", "key": "user", "columns": "user STRING"}, {"name": "out"}],
        delivery="atLeastOnce",
    )
    env.write("events", inputs([{"user": "ann"}], "user"))
    ledger, launch = env.launched(made)
    loop = env.loop(CurrentRun.of(launch))
    loop.start()
    while not env.rows("out"):
        loop.step()
    CheckpointStream(env.system, ledger.stream).open("another")
    give_up = time.monotonic() + 30
    with pytest.raises(FailedError, match="another driver runs this app"):
        while time.monotonic() < give_up:
            env.write("events", inputs([{"user": "bob"}], "user"))
            loop.step()


def written(app: PageViews) -> set[int]:
    return set(rows(app))


def rows(app: PageViews) -> Counter[int]:
    """How often each view was written; each with its user's country."""
    try:
        found = app.output()
    except KeyError:
        return Counter()
    assert all(row["country"] == f"c{row['n'] % USERS % 7}" for row in found)
    return Counter(row["n"] for row in found)


def totals(app: PageViews) -> dict[str, tuple[int, int]]:
    """The last that was said of each session. State is one with positions: it counts nothing twice."""
    found = committed(app.address, f"{app.name}.totals")
    return {row["session"]: (row["views"], row["total"]) for row in found}


def expected_totals(app: PageViews) -> dict[str, tuple[int, int]]:
    sessions: dict[str, list[int]] = {}
    for view in app.views(0, app.written):
        if view["page"] != "/health":
            sessions.setdefault(view["session"], []).append(view["n"])
    return {session: (len(numbers), sum(numbers)) for session, numbers in sessions.items()}

"""A driver that restarts, is replaced, loses its place or its state: what its next batches do."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark import SparkContext

from streamapp.cli.app_sources import one_app
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.failures import MOST_FAILURES, FailedError
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.launch import launch
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.crash.view_streams import LogStreams
from tests.harness.engine.one_system import OneSystem

APP = Path(__file__).parents[3] / "harness" / "crash" / "app.yaml"
USERS = [{"user": f"user-{number}", "country": "de"} for number in range(20)]
VIEWS = [{"user": f"user-{number % 20}", "page": "/a", "n": number} for number in range(100)]


@pytest.fixture
def streams(tmp_path: Path) -> Iterator[LogStreams]:
    streams = LogStreams(tmp_path)
    streams.create()
    streams.append("users", USERS)
    streams.append("views", VIEWS)
    yield streams
    streams.close()


@pytest.fixture
def system(streams: LogStreams) -> EmbeddedSystem:
    return streams.system


def started(session: SparkContext, system: EmbeddedSystem, folder: Path) -> Loop:
    ledger = CheckpointStream(system, "siege.checkpoint")
    app = one_app(str(APP), None)
    context = AppContext(app, embedded_storage(folder, app), OneSystem(system, app), ledger, UserFunctions())
    ready = launch(context, session, 1)
    loop = Loop(session, CurrentRun.of(ready, batch_rows=1_000), pause=lambda _: None)
    loop.start()
    return loop


def to_the_end(loop: Loop) -> list[BatchResult]:
    batches = []
    while loop.planner.behind:
        batch = loop.step()
        if batch is not None:
            batches.append(batch)
    return batches


def test_a_driver_that_let_go_of_its_stores_is_followed_by_one_that_restores_nothing(
    session: SparkContext, system: EmbeddedSystem, streams: LogStreams, tmp_path: Path
) -> None:
    first = started(session, system, tmp_path)
    to_the_end(first)
    first.release()
    second = to_the_end(started(session, system, tmp_path))
    assert sum(batch.restored for batch in second) == 0
    assert streams.size("enriched") == len(VIEWS)


def test_after_a_driver_that_died_only_what_was_pending_is_restored(
    session: SparkContext, system: EmbeddedSystem, streams: LogStreams, tmp_path: Path
) -> None:
    to_the_end(started(session, system, tmp_path))
    batches = to_the_end(started(session, system, tmp_path))
    assert 0 < sum(batch.restored for batch in batches) <= 20  # the totals of the last batch, and no table
    streams.append("views", VIEWS[:20])
    to_the_end(started(session, system, tmp_path))
    last = {row["user"]: row["views"] for row in streams.rows("totals")}
    assert last == {f"user-{number}": 6 for number in range(20)}


def test_a_driver_ends_when_another_has_taken_over(
    session: SparkContext, system: EmbeddedSystem, streams: LogStreams, tmp_path: Path
) -> None:
    loop = started(session, system, tmp_path)
    loop.step()
    CheckpointStream(system, "siege.checkpoint").open("another")
    with pytest.raises(FailedError, match="another driver runs this app"):
        to_the_end(loop)
    assert streams.size("enriched") == 0


def test_a_checkpoint_that_another_wrote_is_read_before_the_next_batch(
    session: SparkContext, system: EmbeddedSystem, streams: LogStreams, tmp_path: Path
) -> None:
    loop = started(session, system, tmp_path)
    loop.step()
    before = dict(loop.ledger.checkpoints)
    loop.step()
    assert loop.ledger.checkpoints != before
    loop.ledger.checkpoints = before  # as if the answer of that batch had been lost
    batches = to_the_end(loop)
    assert {report.status for report in batches[0].reports} == {"fenced"}
    assert loop.ledger.incarnation == 2
    assert streams.size("enriched") == len(VIEWS)


def test_a_lane_that_finds_itself_elsewhere_touches_nothing_and_the_app_gives_up_in_the_end(
    session: SparkContext, system: EmbeddedSystem, tmp_path: Path
) -> None:
    loop = started(session, system, tmp_path)
    loop.lanes.supervisor.executors.executor_ids = dict.fromkeys(loop.lanes.supervisor.lanes, "elsewhere")
    batch = loop.step()
    assert batch is not None
    assert {report.status for report in batch.reports} == {"misplaced"}
    with pytest.raises(FailedError, match=f"{MOST_FAILURES + 1} batches in a row failed.*another executor"):
        to_the_end(loop)
    assert loop.ledger.incarnation == 1
    assert not loop.ledger.checkpoints
    tables = [entry for entry in (tmp_path / "state" / "siege").iterdir() if entry.is_dir()]
    assert not tables, "no store was opened"

"""A generation that is checked beside the one that runs is looked at with its own streams."""

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.modes.candidate_check import CandidateCheck
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.systems.app_systems import Systems
from tests.harness.runs.app_runs import app

INPUT = {"name": "events", "topic": "topic-of-events", "columns": "n INT"}
MORE = {"name": "more", "topic": "topic-of-more", "columns": "n INT"}
MERGED = {"name": "all", "merge": {"from": ["events", "more"]}}


@pytest.fixture
def context(tmp_path: Path) -> Iterator[AppContext]:
    running = app(
        {"name": "sink", "sendTo": {"from": "events", "stream": "out"}}, streams=[INPUT, {"name": "out"}]
    )
    storage = embedded_storage(tmp_path, running)
    with closing(Systems(storage.systems)) as systems:
        for topic in ("topic-of-events", "topic-of-more"):
            systems.home.create(topic, 2)
        ledger = CheckpointStream(systems.home, "checkpoints")
        ledger.open("run")
        yield AppContext(running, storage, systems, ledger, UserFunctions())


def _candidate(*streams: Any, **spec: Any) -> StreamApp:
    sink = {"name": "sink", "sendTo": {"from": "all", "stream": "out"}}
    return app(MERGED, sink, streams=[INPUT, *streams, {"name": "out"}], **spec)


def _tried(context: AppContext, candidate: StreamApp) -> list[str]:
    check = CandidateCheck.begin(AcceptedApp(candidate, 2), context, SparkOnDemand(pytest.fail))
    for thread in threading.enumerate():
        if thread.name == "streamapp-candidate-check":
            thread.join()
    assert check.problems is not None
    return [str(problem) for problem in check.problems]


def test_a_stream_that_the_running_generation_does_not_have_is_found_under_its_topic(
    context: AppContext,
) -> None:
    assert _tried(context, _candidate(MORE)) == []
    (problem,) = _tried(context, _candidate({**MORE, "topic": "missing"}))
    assert 'stream "more" does not exist' in problem


def test_a_system_that_the_driver_does_not_know_is_left_to_the_next_one(context: AppContext) -> None:
    systems = [{"name": name, "embedded": {"path": name}} for name in ("main", "other")]
    assert _tried(context, _candidate({**MORE, "system": "other"}, systems=systems)) == []

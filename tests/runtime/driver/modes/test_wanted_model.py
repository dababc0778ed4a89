"""A model that the operator made, taken by a driver whose system no longer has what the model reads."""

from pathlib import Path

import pytest

from streamapp.author.model import KnownPlacement
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.wanted_state import WantedState
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.modes.wanted_model import launch_wanted
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.draft import first_draft
from streamapp_runtime.driver.start.live_inputs import live_inputs
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.expressions.spark_source import SparkOnDemand
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.chained_app import chained

APP = chained()
RUN = "run-1"


def _context(folder: Path) -> AppContext:
    system = EmbeddedSystem(folder)
    ledger = CheckpointStream(system, "checkpoints")
    ledger.open(RUN)
    return AppContext(APP, embedded_storage(folder, APP), OneSystem(system, APP), ledger, UserFunctions())


def test_an_input_that_does_not_exist_any_more_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    seen = _context(tmp_path / "seen")
    seen.systems.create("events", 4)
    draft = first_draft(APP, live_inputs(seen, ["processor-0"], 0.0), KnownPlacement())
    wanted = WantedState(AcceptedApp(APP).hash, 1, draft.model, draft.assignment.layout)

    started = _context(tmp_path / "started")
    with pytest.raises(AppRefusedError) as refusal:
        launch_wanted(started, SparkOnDemand(pytest.fail), wanted, draft.model)
    (problem,) = refusal.value.problems
    assert problem.path == "spec.streams[0]"
    assert problem.message.startswith('stream "events" does not exist in the embedded log; ')
    assert started.systems.partitions("out") is None

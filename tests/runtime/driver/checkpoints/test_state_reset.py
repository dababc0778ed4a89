"""State is given up once for each time that `resetNonce` is raised, and then all of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.task_model import TaskModel
from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.wanted_state import WantedState
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.checkpoint_entries import LAYOUT
from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.driver.checkpoints.stored_state import LayoutUnreadableError
from streamapp_runtime.driver.modes.wanted_model import wanted_assignment
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.driver.start.app_storage import embedded_storage
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem
from tests.harness.engine.record_values import values, write
from tests.harness.runs.app_runs import app

STREAM = "app.checkpoint"
WRITTEN = Checkpoint("run").encode().decode()
VIEWS = Partition("views", 0)
BETWEEN = Partition("app.by-user", 0)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    yield system
    system.close()


def opened(system: EmbeddedSystem, reset: StateReset, run: str = "another") -> CheckpointStream:
    ledger = CheckpointStream(system, STREAM)
    ledger.open(run, reset=reset)
    return ledger


@pytest.fixture
def known(system: EmbeddedSystem) -> CheckpointStream:
    """An app that has a layout, a checkpoint, and three records between its stages."""
    ledger = opened(system, StateReset(), "first")
    ledger.remember(Layout("first", "partition"))
    ledger.begin_at({VIEWS: 7})
    system.create(BETWEEN.stream, 1)
    write(system, TopicPartition(*BETWEEN), values("a", "b", "c"))
    transaction = system.begin(STREAM, ledger.incarnation)
    transaction.put(STREAM, b"Partition 0", WRITTEN.encode())
    transaction.commit()
    return ledger


@pytest.mark.usefixtures("known")
def test_a_raised_nonce_begins_a_run_that_knows_nothing_and_reads_nothing_of_the_one_before(
    system: EmbeddedSystem,
) -> None:
    ledger = opened(system, StateReset(1))
    assert ledger.was_reset
    assert (ledger.run_id, ledger.incarnation) == ("another", 2)
    assert (ledger.layout, ledger.checkpoints, ledger.identities) == (None, {}, {})
    assert ledger.starts == {BETWEEN: system.spans([TopicPartition(*BETWEEN)])[TopicPartition(*BETWEEN)].end}


@pytest.mark.usefixtures("known")
def test_the_same_nonce_and_a_lower_one_give_nothing_up(system: EmbeddedSystem) -> None:
    opened(system, StateReset(2))
    for nonce in (2, 1, 0):
        ledger = opened(system, StateReset(nonce), "a third")
        assert not ledger.was_reset
        assert ledger.run_id == "another"


@pytest.mark.usefixtures("known")
def test_a_nonce_that_is_raised_again_gives_up_again(system: EmbeddedSystem) -> None:
    opened(system, StateReset(1), "second")
    assert opened(system, StateReset(4), "third").run_id == "third"


@pytest.mark.usefixtures("known")
def test_a_fresh_start_gives_up_whatever_the_nonce_and_only_what_is_there(system: EmbeddedSystem) -> None:
    for run in ("second", "third"):
        ledger = opened(system, StateReset(forced=True), run)
        assert (ledger.run_id, ledger.layout, ledger.checkpoints) == (run, None, {})
    assert not opened(system, StateReset(), "fourth").was_reset


def test_a_fresh_start_of_an_app_that_never_ran_drops_nothing(system: EmbeddedSystem) -> None:
    assert opened(system, StateReset(forced=True)).dropped is None


@pytest.mark.usefixtures("known")
def test_a_run_never_has_the_name_of_the_one_that_was_given_up(system: EmbeddedSystem) -> None:
    assert opened(system, StateReset(1), "first").run_id != "first"


def test_an_app_that_is_new_has_nothing_to_give_up_whatever_its_nonce(system: EmbeddedSystem) -> None:
    ledger = opened(system, StateReset(3))
    assert not ledger.was_reset
    assert not opened(system, StateReset(3)).was_reset
    assert opened(system, StateReset(4), "raised").was_reset


@pytest.mark.usefixtures("known")
def test_a_resource_that_is_made_anew_keeps_the_state_until_its_own_nonce_is_raised(
    system: EmbeddedSystem,
) -> None:
    opened(system, StateReset(0, "uid-1"))
    assert not opened(system, StateReset(2, "uid-2")).was_reset
    assert opened(system, StateReset(3, "uid-2")).was_reset


@pytest.mark.usefixtures("known")
def test_after_a_reset_the_operators_model_of_the_new_run_is_taken_and_none_of_the_old_one(
    system: EmbeddedSystem, tmp_path: Path
) -> None:
    made = app(
        {"name": "out", "sendTo": {"from": "views", "stream": "seen"}},
        streams=[{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "seen", "key": "user"}],
        resetNonce=1,
    )
    ledger = opened(system, StateReset.of_cluster(AcceptedApp(made, 2, "uid-1")), "second")
    site = AppContext(
        made, embedded_storage(tmp_path, made), OneSystem(system, made), ledger, UserFunctions()
    )
    task = TaskModel("Partition 0", (VIEWS,), 0)
    for run, taken_up in (("first", False), ("second", True)):
        model = JobModel.of(
            version=2,
            run_id=run,
            application_id=made.application_id,
            tasks=[task],
            processors={"processor-0": ["Partition 0"]},
        )
        layout = Layout(run, "partition", changelog={"Partition 0": 0})
        found = wanted_assignment(site, WantedState(AcceptedApp(made).hash, 1, model, layout), model)
        assert isinstance(found, Assignment) == taken_up


@pytest.mark.usefixtures("known")
def test_a_layout_that_cannot_be_read_is_given_up_too(system: EmbeddedSystem) -> None:
    transaction = system.begin(STREAM, 9)
    transaction.put(STREAM, LAYOUT.key, b"torn")
    transaction.commit()
    with pytest.raises(LayoutUnreadableError, match="resetNonce"):
        opened(system, StateReset())
    assert opened(system, StateReset(1)).layout is None


@pytest.mark.usefixtures("process")
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("point", ["driver.recorded", "driver.fenced", "driver.giving-up", "driver.gave-up"])
def test_a_kill_in_the_midst_leaves_all_or_nothing_and_the_next_start_has_given_up_once(
    system: EmbeddedSystem, tmp_path: Path, point: str
) -> None:
    points = tmp_path / "points"
    points.mkdir()
    (points / point).touch()
    command = [
        sys.executable,
        "-m",
        "tests.harness.child_processes.resetting_driver",
        str(tmp_path),
        STREAM,
        "1",
    ]
    child = subprocess.run(command, env=os.environ | {VARIABLE: str(points)}, check=False)
    assert child.returncode == -signal.SIGKILL
    done = point == "driver.gave-up"
    assert (b"Partition 0" in system.latest(STREAM)) == (LAYOUT.key in system.latest(STREAM)) == (not done)
    ledger = opened(system, StateReset(1))
    assert ledger.was_reset == (not done)
    assert ledger.run_id == ("killed" if done else "another")
    assert (ledger.layout, ledger.checkpoints) == (None, {})


@pytest.mark.usefixtures("known")
def test_a_late_checkpoint_of_the_run_that_was_given_up_is_neither_read_nor_kept(
    system: EmbeddedSystem,
) -> None:
    """A driver that was replaced may write one where no fence guards checkpoints."""
    late = WRITTEN.encode()
    reset = opened(system, StateReset(1))
    transaction = system.begin(STREAM, reset.incarnation)
    transaction.put(STREAM, b"Partition 0", late)
    transaction.commit()
    ledger = opened(system, StateReset(1))
    assert (ledger.run_id, ledger.checkpoints) == ("another", {})
    assert b"Partition 0" not in system.latest(STREAM)

"""An application id belongs to one app: whoever else comes is refused before it does anything."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp.spec.reasons import Reason
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.ownership import Ownership
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.overtaken_log import OvertakenLog

STREAM = "app.checkpoint"
WRITTEN = Checkpoint("run").encode().decode()
MINE, OTHER = Ownership("shop/app"), Ownership("shop/other")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    yield system
    system.close()


def opened(system: EmbeddedSystem, claim: Ownership) -> CheckpointStream:
    ledger = CheckpointStream(system, STREAM)
    ledger.open("run", claim)
    return ledger


@pytest.mark.parametrize("claim", [OTHER, Ownership()])
def test_another_app_and_a_run_by_hand_are_refused(system: EmbeddedSystem, claim: Ownership) -> None:
    opened(system, MINE)
    with pytest.raises(AppRefusedError) as refused:
        opened(system, claim)
    (problem,) = refused.value.problems
    assert (problem.path, problem.reason) == ("spec.applicationId", Reason.APPLICATION_ID_IN_USE)
    assert "shop/app" in problem.message


def test_the_owner_is_not_disturbed_by_one_who_is_refused(system: EmbeddedSystem) -> None:
    first = opened(system, MINE)
    transaction = system.begin(STREAM, first.incarnation)
    transaction.put(STREAM, b"task-0", WRITTEN.encode())
    with pytest.raises(AppRefusedError):
        opened(system, OTHER)
    transaction.commit()
    first.check()
    assert opened(system, MINE).checkpoints == {"task-0": WRITTEN}


def test_an_app_that_starts_again_or_is_made_anew_finds_what_it_owns(system: EmbeddedSystem) -> None:
    opened(system, MINE)
    second = opened(system, MINE)
    assert second.incarnation == 2


def test_state_that_nobody_has_claimed_goes_to_the_first_app_that_comes(system: EmbeddedSystem) -> None:
    opened(system, Ownership())
    opened(system, MINE)
    with pytest.raises(AppRefusedError):
        opened(system, OTHER)


def test_who_takes_over_owns_it_from_then_on(system: EmbeddedSystem) -> None:
    opened(system, MINE)
    taken = opened(system, Ownership("shop/other", take_over=True))
    assert (taken.run_id, taken.incarnation) == ("run", 2)
    opened(system, OTHER)
    with pytest.raises(AppRefusedError):
        opened(system, MINE)


def test_of_two_apps_that_start_at_the_same_moment_one_is_refused(tmp_path: Path) -> None:
    system = OvertakenLog(tmp_path, rivals=1, claim=OTHER)
    with pytest.raises(AppRefusedError):
        opened(system, MINE)
    system.close()

"""From an app that is applied to a driver that runs."""

from tests.control_plane.deciding.apps import join
from tests.control_plane.deciding.stage import Stage


def test_a_sound_app_is_accepted_planned_and_gets_a_driver(stage: Stage) -> None:
    stage.apply(join())
    stage.settle()
    assert stage.says("Accepted") == ("True", "Accepted")
    assert stage.says("Planned") == ("True", "Planned")
    assert stage.says("Launched") == ("True", "Launched")
    assert stage.says("Ready")[0] == "False"
    assert stage.driver()["metadata"]["name"] == "app-driver-1"
    assert stage.status()["phase"] == "Launching"


def test_it_is_ready_once_the_driver_says_that_it_runs(stage: Stage) -> None:
    stage.bring_up(join())
    assert stage.says("Ready") == ("True", "Running")
    assert stage.says("Progressing") == ("False", "Stable")
    assert stage.status()["phase"] == "Running"
    assert stage.condition("Ready")["observedGeneration"] == 1


def test_an_app_that_runs_is_left_alone(stage: Stage) -> None:
    stage.bring_up(join())
    stage.calls.clear()
    stage.reconcile()
    stage.reconcile()
    assert {verb for verb, _ in stage.calls} <= {"get", "list"}

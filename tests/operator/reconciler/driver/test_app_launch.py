"""From an app that is applied to a driver that runs."""

import pytest

from streamapp.protocol.driver_report import DriverState, ExecutorBinding
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.small_apps import join


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


@pytest.mark.parametrize(
    ("executors", "why"),
    [
        (["", ""], ("ExecutorsMissing", "0 of 2 executors are there")),
        (["1", ""], ("ExecutorsMissing", "1 of 2 executors are there")),
        (["1", "2"], ("DriverStarting", "the driver has not got to its first batch")),
    ],
)
def test_until_the_first_batch_it_is_not_ready_and_says_what_it_waits_for(
    stage: Stage, executors: list[str], why: tuple[str, str]
) -> None:
    stage.apply(join(processors=2))
    stage.settle()
    stage.begin()
    binding = {f"processor-{n}": ExecutorBinding(None, executor) for n, executor in enumerate(executors)}
    stage.report(DriverState.WAITING, binding=binding)
    stage.settle()
    ready = stage.condition("Ready")
    assert (ready["status"], ready["reason"], ready["message"]) == ("False", *why)


def test_a_driver_that_has_done_all_is_not_being_launched(stage: Stage) -> None:
    stage.bring_up(join())
    stage.report(DriverState.ENDED)
    stage.settle()
    assert stage.status()["phase"] == "Running"
    assert stage.says("Ready") == ("False", "DriverEnding")
    assert stage.says("Progressing") == ("True", "DriverEnding")


def test_an_app_that_runs_is_left_alone(stage: Stage) -> None:
    stage.bring_up(join())
    stage.calls.clear()
    stage.reconcile()
    stage.reconcile()
    assert {verb for verb, _ in stage.calls} <= {"get", "list"}

"""From an app that is applied to a driver that runs."""

import pytest

from streamapp.protocol.driver_report import DriverState, ExecutorBinding
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, OperatorSim
from tests.harness.operator.small_apps import join


@ON_BOTH_SERVERS
def test_a_sound_app_is_accepted_planned_and_gets_a_driver(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Planned") == ("True", "Planned")
    assert sim.says("Launched") == ("True", "Launched")
    assert sim.says("Ready")[0] == "False"
    assert sim.driver()["metadata"]["name"] == "app-driver-1"
    assert sim.status()["phase"] == "Launching"


@ON_BOTH_SERVERS
def test_what_nothing_uses_is_said_by_the_plan_and_keeps_no_app_from_its_launch(sim: OperatorSim) -> None:
    app = join()
    app["spec"]["tables"].append({"name": "unused", "columns": "user STRING"})
    sim.apply(app)
    sim.settle()
    assert sim.says("Launched") == ("True", "Launched")
    warning = 'spec.tables[1]: no operator uses the table "unused"; join with it, or take it away'
    assert warning in sim.condition("Planned")["message"].splitlines()


@ON_BOTH_SERVERS
def test_it_is_ready_once_the_driver_says_that_it_runs(sim: OperatorSim) -> None:
    sim.bring_up(join())
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Progressing") == ("False", "Stable")
    assert sim.status()["phase"] == "Running"
    assert sim.condition("Ready")["observedGeneration"] == 1


@ON_BOTH_SERVERS
@pytest.mark.parametrize(
    ("executors", "why"),
    [
        (["", ""], ("ExecutorsMissing", "0 of 2 executors are there")),
        (["1", ""], ("ExecutorsMissing", "1 of 2 executors are there")),
        (["1", "2"], ("DriverStarting", "the driver has not got to its first batch")),
    ],
)
def test_until_the_first_batch_it_is_not_ready_and_says_what_it_waits_for(
    sim: OperatorSim, executors: list[str], why: tuple[str, str]
) -> None:
    sim.apply(join(processors=2))
    sim.settle()
    sim.begin()
    binding = {f"processor-{n}": ExecutorBinding(None, executor) for n, executor in enumerate(executors)}
    sim.report(DriverState.WAITING, binding=binding)
    sim.settle()
    ready = sim.condition("Ready")
    assert (ready["status"], ready["reason"], ready["message"]) == ("False", *why)


@ON_BOTH_SERVERS
def test_a_driver_that_has_done_all_is_not_being_launched(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(DriverState.ENDED)
    sim.settle()
    assert sim.status()["phase"] == "Running"
    assert sim.says("Ready") == ("False", "DriverEnding")
    assert sim.says("Progressing") == ("True", "DriverEnding")


@ON_BOTH_SERVERS
def test_an_app_that_runs_is_left_alone(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.calls.clear()
    sim.reconcile()
    sim.reconcile()
    assert {verb for verb, _ in sim.calls} <= {"get", "list"}

"""Ready means that rows can flow for every task: what cannot work is said within ten seconds, and why."""

import pytest

from streamapp.protocol.driver_report import ExecutorBinding
from tests.harness.api_server.memory_api import MemoryApi, Object, Refused
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

QUOTA = "exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2"


@pytest.fixture
def running(sim: OperatorSim) -> OperatorSim:
    """A simulation with an app that runs on two executors."""
    sim.bring_up(join())
    for number in (1, 2):
        sim.executor(number, driver="app-driver-1")
    sim.pass_time(60)
    sim.settle()
    return sim


def _lose(sim: OperatorSim, *numbers: int) -> None:
    for number in numbers:
        sim.remove(f"app-1-exec-{number}")
    sim.settle()


def _refuse_executors(sim: OperatorSim) -> None:
    def admit(made: Object) -> None:
        if "-executor-" in made["metadata"].get("name", ""):
            raise Refused(403, "Forbidden", f'pods "app-exec" is forbidden: {QUOTA}')

    assert isinstance(sim.server, MemoryApi)
    sim.server.admit = admit


def test_an_executor_that_is_replaced_at_once_is_no_matter(running: OperatorSim) -> None:
    _lose(running, 2)
    running.pass_time(4)
    running.settle()
    assert running.says("Degraded") == ("False", "Healthy")
    running.executor(3, driver="app-driver-1")
    running.pass_time(60)
    running.settle()
    assert running.says("Degraded") == ("False", "Healthy")


def test_an_executor_that_a_quota_forbids_is_told_within_ten_seconds_in_its_words(
    running: OperatorSim,
) -> None:
    _refuse_executors(running)
    _lose(running, 2)
    outcome = running.settle()
    running.pass_time(outcome.seconds)
    running.settle()
    assert outcome.seconds <= 5
    assert running.says("Degraded") == ("True", "ExecutorsMissing")
    message = running.condition("Degraded")["message"]
    assert message.startswith("1 of 2 executors run\n")
    assert QUOTA in message
    assert any(QUOTA in text for kind, _, text in running.events() if kind == "Warning")


def test_what_the_api_server_says_is_asked_for_again_every_ten_seconds(running: OperatorSim) -> None:
    _lose(running, 2)
    running.pass_time(5)
    running.settle()
    assert running.condition("Degraded")["message"] == "1 of 2 executors run"
    _refuse_executors(running)
    running.pass_time(10)
    running.settle()
    assert QUOTA in running.condition("Degraded")["message"]


@pytest.mark.parametrize(
    ("reason", "message"),
    [("ImagePullBackOff", "no such image"), ("CreateContainerConfigError", 'secret "s" not found')],
)
def test_an_executor_whose_container_cannot_start_is_named(
    running: OperatorSim, reason: str, message: str
) -> None:
    _lose(running, 2)
    executor = running.executor(3, driver="app-driver-1")
    running.hold_back(executor, reason, message)
    running.settle()
    assert running.says("Degraded") == ("True", "ExecutorsMissing")
    assert f"{executor}: {reason}: {message}" in running.condition("Degraded")["message"]


@pytest.mark.parametrize(
    "message",
    [
        "0/3 nodes are available: 3 Insufficient memory.",
        "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
    ],
)
def test_an_executor_that_no_node_takes_is_named(running: OperatorSim, message: str) -> None:
    _lose(running, 2)
    executor = running.executor(3, driver="app-driver-1")
    running.leave_unscheduled(executor, message)
    running.settle()
    assert f"{executor}: Unschedulable: {message}" in running.condition("Degraded")["message"]


def test_tasks_that_wait_for_a_processor_degrade_an_app(running: OperatorSim) -> None:
    running.report(binding={"processor-0": ExecutorBinding(None, "1")})
    running.settle()
    assert running.says("Ready") == ("True", "Running")
    assert running.says("Degraded") == ("True", "ExecutorsMissing")
    assert "tasks wait for processor-1" in running.condition("Degraded")["message"]


def test_an_app_none_of_whose_tasks_can_work_is_not_ready(running: OperatorSim) -> None:
    """Its executors are gone, or its driver is cut off from them."""
    _refuse_executors(running)
    _lose(running, 1, 2)
    running.report(binding={})
    running.settle()
    assert running.says("Ready") == ("False", "ExecutorsMissing")
    assert running.says("Degraded") == ("True", "ExecutorsMissing")
    running.pass_time(5)
    running.settle()
    assert "0 of 2 executors run" in running.condition("Ready")["message"]
    assert QUOTA in running.condition("Ready")["message"]
    running.report()
    running.settle()
    assert running.says("Ready") == ("True", "Running")

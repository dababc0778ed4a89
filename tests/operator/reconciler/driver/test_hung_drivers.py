"""A driver that makes no progress is told of while it hangs, and followed by the next when it was ended."""

import json
import time

import pytest

from streamapp.protocol.message_names import INCARNATION
from streamapp.protocol.silent_driver import SilentDriver
from streamapp_operator.controller.watch.cached_fields import foreign_write_time
from streamapp_operator.reconciler.driver.next_action import HUNG_GRACE_SECONDS, HUNG_SECONDS
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join


@pytest.fixture
def running(sim: OperatorSim) -> OperatorSim:
    """A simulation with an app that has run for a while."""
    sim.bring_up(join())
    sim.pass_time(600)
    return sim


def _silent(sim: OperatorSim) -> None:
    """The driver hangs, and its successor is not ready yet."""
    sim.silence()
    sim.settle(warms_up=False)


def test_an_app_whose_driver_hangs_is_not_known_to_be_ready(running: OperatorSim) -> None:
    _silent(running)
    assert running.says("Ready") == ("Unknown", "NoProgress")
    assert running.says("Degraded") == ("True", "NoProgress")
    assert running.says("Stalled") == ("False", "UpToDate")
    assert (running.status()["phase"], running.status()["reason"]) == ("Running", "NoProgress")
    message = running.condition("Ready")["message"]
    assert message.startswith("driver app-driver-1 has made no progress since 2026-11-01T12:10:00Z; ")
    assert ("Warning", "NoProgress", message) in running.events()
    assert len(running.drivers()) == 1


def test_a_driver_that_goes_on_makes_its_app_ready_again(running: OperatorSim) -> None:
    _silent(running)
    running.begin()
    running.settle()
    assert running.says("Ready") == ("True", "Running")
    assert running.says("Degraded") == ("False", "Healthy")


def test_a_hung_driver_that_was_ended_is_followed_at_once_and_counts_as_lost(running: OperatorSim) -> None:
    _silent(running)
    running.pass_time(60)
    running.end(code=137)
    running.settle()
    assert running.driver()["metadata"]["name"] == "app-driver-2"
    driver = running.status()["driver"]
    ending = driver["lastEnding"]
    assert (ending["outcome"], ending["reason"]) == ("lost", "NoProgress")
    assert ending["message"] == "it had made no progress for 60 s, and was ended"
    assert (driver["failures"], running.status()["restarts"]) == (0, 1)


@ON_REAL_SERVER
def test_a_hung_driver_has_a_successor_and_is_ended_once_it_was_silent_for_long(running: OperatorSim) -> None:
    _silent(running)
    assert [pod["metadata"]["name"] for pod in running.successors()] == ["app-driver-2"]
    running.pass_time(HUNG_SECONDS - 1)
    running.settle(warms_up=False)
    assert "deletionTimestamp" not in running.driver()["metadata"]
    running.pass_time(1)
    running.settle()
    metadata = running.pod("app-driver-1")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == HUNG_GRACE_SECONDS
    assert running.says("Ready") == ("False", "DriverEnding")
    running.pass_time(HUNG_GRACE_SECONDS)
    running.end("app-driver-1", code=137)
    running.remove("app-driver-1")
    running.settle()
    assert running.driver()["metadata"]["name"] == "app-driver-2"
    driver = running.status()["driver"]
    assert (driver["lastEnding"]["outcome"], driver["lastEnding"]["reason"]) == ("lost", "NoProgress")
    assert (driver["failures"], running.status()["restarts"]) == (0, 1)


@ON_REAL_SERVER
def test_a_hung_driver_is_replaced_as_soon_as_its_successor_is_ready(running: OperatorSim) -> None:
    _silent(running)
    running.warm_up()
    running.settle()
    metadata = running.pod("app-driver-1")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == HUNG_GRACE_SECONDS


@pytest.fixture
def guarded(sim: OperatorSim) -> OperatorSim:
    """A simulation of an app whose standby has executors, and whose driver's kubelet says nothing."""
    sim.bring_up(join(driver={"standby": True, "standbyExecutors": True}))
    for driver in ("app-driver-1", "app-driver-2"):
        sim.executor(1, driver=driver)
    sim.pass_time(600)
    sim.settle()
    return sim


def test_a_driver_that_does_not_answer_its_standby_is_replaced_at_once(guarded: OperatorSim) -> None:
    """No kubelet confirms the end of its pod or of its executors."""
    guarded.annotate_report(SilentDriver("app-driver-1", "app-driver-2"))
    guarded.settle()
    assert "app-driver-1" not in guarded.names("pods")
    assert guarded.driver()["metadata"]["name"] == "app-driver-2"
    assert guarded.config_map("app-job-model")["metadata"]["annotations"][INCARNATION] == "2"
    driver = guarded.status()["driver"]
    assert (driver["lastEnding"]["outcome"], driver["lastEnding"]["reason"]) == ("lost", "NoProgress")
    assert driver["lastEnding"]["message"] == "it had made no progress, and was ended"
    assert (driver["failures"], guarded.status()["restarts"]) == (0, 1)


@pytest.mark.parametrize(
    "told",
    [
        SilentDriver("app-driver-1", "app-driver-3"),  # that standby does not exist
        SilentDriver("app-driver-2", "app-driver-2"),  # that driver does not work
        SilentDriver("app-driver-1", "app-driver-1"),
    ],
)
def test_nobody_else_is_believed(guarded: OperatorSim, told: SilentDriver) -> None:
    guarded.annotate_report(told)
    guarded.settle()
    assert guarded.driver()["metadata"]["name"] == "app-driver-1"
    assert guarded.says("Ready") == ("True", "Running")


def test_a_standby_that_is_not_ready_is_not_believed(guarded: OperatorSim) -> None:
    guarded.silence("app-driver-2")
    guarded.annotate_report(SilentDriver("app-driver-1", "app-driver-2"))
    guarded.settle()
    assert guarded.driver()["metadata"]["name"] == "app-driver-1"


def test_a_suspended_app_has_no_driver_to_replace(guarded: OperatorSim) -> None:
    guarded.edit(suspend=True)
    guarded.annotate_report(SilentDriver("app-driver-1", "app-driver-2"))
    guarded.settle()
    assert "deletionTimestamp" in guarded.pod("app-driver-1")["metadata"]
    assert guarded.says("Ready") == ("False", "DriverEnding")


@pytest.mark.usefixtures("process")
def test_the_word_of_a_standby_does_not_make_a_report_newer(guarded: OperatorSim) -> None:
    before = foreign_write_time(guarded.config_map("app-report"))
    time.sleep(1.1)  # the API server writes seconds
    guarded.annotate_report(SilentDriver("app-driver-0", "app-driver-2"))
    assert foreign_write_time(guarded.config_map("app-report")) == before


def test_a_driver_that_comes_to_itself_goes_on_and_its_successor_is_taken_away(running: OperatorSim) -> None:
    _silent(running)
    running.pass_time(HUNG_SECONDS - 1)
    running.begin()
    running.settle()
    running.pass_time(HUNG_SECONDS)
    running.settle()
    assert "deletionTimestamp" not in running.driver()["metadata"]
    assert all("deletionTimestamp" in pod["metadata"] for pod in running.successors())
    assert running.says("Ready") == ("True", "Running")


def test_an_operator_that_begins_meanwhile_gives_a_silent_driver_the_same_time(running: OperatorSim) -> None:
    _silent(running)
    running.pass_time(HUNG_SECONDS - 1)
    running.restart()
    running.settle(warms_up=False)
    running.pass_time(HUNG_SECONDS - 1)
    running.settle(warms_up=False)
    assert "deletionTimestamp" not in running.driver()["metadata"]
    running.pass_time(1)
    running.settle()
    assert "deletionTimestamp" in running.pod("app-driver-1")["metadata"]


def test_an_operator_that_was_away_knows_a_hung_driver_by_its_pod(running: OperatorSim) -> None:
    running.silence()
    running.pass_time(60)
    running.end(code=137)
    running.restart()
    running.settle()
    assert running.status()["driver"]["lastEnding"]["reason"] == "NoProgress"


def test_a_driver_that_never_restarts_by_its_policy_is_replaced_like_a_lost_one(sim: OperatorSim) -> None:
    sim.bring_up(join(restartPolicy={"type": "Never"}))
    sim.pass_time(600)
    sim.silence()
    sim.pass_time(60)
    sim.end(code=137)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


@pytest.mark.parametrize(
    ("seconds", "ending"),
    [
        (0, {"code": 137}),  # killed while it was ready
        (60, {"code": 137, "message": "something of its own"}),
        (60, {"code": 3, "message": json.dumps({"outcome": "retry", "message": "the broker went away"})}),
    ],
)
def test_other_ends_are_failures(running: OperatorSim, seconds: int, ending: dict[str, object]) -> None:
    running.silence()
    running.pass_time(seconds)
    running.end(**ending)  # type: ignore[arg-type]
    running.settle()
    assert running.status()["driver"]["lastEnding"]["outcome"] == "retry"
    assert running.says("Launched") == ("False", "BackingOff")


def test_a_driver_that_was_never_ready_is_starting_and_its_end_a_failure(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.silence()  # at the very moment at which it began
    sim.settle()
    assert sim.says("Ready") == ("False", "DriverStarting")
    sim.pass_time(300)
    sim.end(code=137)
    sim.settle()
    assert sim.status()["driver"]["lastEnding"]["outcome"] == "retry"


def test_another_container_that_is_unready_says_nothing_of_the_driver(running: OperatorSim) -> None:
    running.unready("app-driver-1")
    running.settle()
    assert running.says("Ready") == ("True", "Running")


def test_a_driver_on_a_node_that_does_not_answer_is_not_known_to_be_ready(running: OperatorSim) -> None:
    running.unready("app-driver-1")
    condition = {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"}
    path = "/api/v1/nodes/node-a/status"
    merge = "application/merge-patch+json"
    try:
        running.server.ask("PATCH", path, {"status": {"conditions": [condition]}}, merge)
        running.settle()
        assert running.says("Ready") == ("Unknown", "NoProgress")
        assert running.condition("Ready")["message"] == "node node-a of driver app-driver-1 does not answer"
    finally:
        running.server.ask("PATCH", path, {"status": {"conditions": []}}, merge)

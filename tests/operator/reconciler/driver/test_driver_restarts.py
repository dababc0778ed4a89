"""What happens when a driver ends, and what when it can no longer be asked."""

import json

import pytest

from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, OperatorSim
from tests.harness.operator.simulated_cluster import NO_NODE
from tests.harness.operator.small_apps import join


def said(outcome: str, reason: str = "", path: str = "", message: str = "it went wrong") -> str:
    return json.dumps({"outcome": outcome, "reason": reason, "path": path, "message": message})


@ON_BOTH_SERVERS
def test_a_driver_that_failed_is_followed_by_the_next_after_a_wait(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=3, message=said("retry", message="the broker went away"))
    outcome = sim.settle()
    assert sim.says("Launched") == ("False", "BackingOff")
    assert sim.status()["phase"] == "BackingOff"
    assert "the broker went away" in sim.condition("Degraded")["message"]
    assert sim.drivers() == []
    assert outcome.seconds == 5.0
    sim.pass_time(5)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sim.status()["restarts"] == 1


def test_the_wait_doubles_with_each_failure_and_ends_at_the_longest(sim: OperatorSim) -> None:
    sim.apply(join(restartPolicy={"backoff": "2s", "maxBackoff": "5s"}))
    sim.settle()
    waits = []
    for _ in range(4):
        sim.begin()
        sim.end(code=3)
        outcome = sim.settle()
        waits.append(outcome.seconds)
        sim.pass_time(outcome.seconds)
        sim.settle()
    assert waits == [2, 4, 5, 5]


def test_a_run_that_lasted_makes_the_count_start_again(sim: OperatorSim) -> None:
    sim.apply(join(restartPolicy={"backoff": "2s", "resetAfter": "1h"}))
    sim.settle()
    for lasted in (1, 3600):
        sim.begin()
        sim.pass_time(lasted)
        sim.end(code=3)
        outcome = sim.settle()
        assert outcome.seconds == 2
        sim.pass_time(2)
        sim.settle()


def test_restarts_end_at_the_limit_and_a_new_nonce_begins_anew(sim: OperatorSim) -> None:
    sim.apply(join(restartPolicy={"backoff": "0s", "maxRestarts": 1}))
    sim.settle()
    for _ in range(2):
        sim.begin()
        sim.end(code=3)
        sim.settle()
    assert sim.drivers() == []
    assert sim.status()["phase"] == "Failed"
    assert sim.says("Stalled") == ("True", "RestartsExhausted")
    sim.edit(restartNonce=1)
    sim.settle()
    assert len(sim.drivers()) == 1


def test_a_generation_that_has_failed_is_not_said_to_run_beside_one_that_is_rejected(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(restartPolicy={"backoff": "0s", "maxRestarts": 0}))
    sim.edit(serviceAccountName="admin")
    sim.settle()
    assert sim.condition("Stalled")["message"].endswith("\ngeneration 1 keeps running")
    sim.end(code=3, message=said("retry", message="the broker went away"))
    sim.settle()
    assert sim.status()["phase"] == "Failed"
    stalled = sim.condition("Stalled")["message"]
    assert "generation 1, accepted before, does not run: driver 1 ended" in stalled
    assert "the broker went away" in stalled


def test_an_app_that_may_never_restart_does_not(sim: OperatorSim) -> None:
    sim.bring_up(join(restartPolicy={"type": "Never"}))
    sim.fail_driver(3600)
    assert sim.drivers() == []
    assert sim.status()["phase"] == "Failed"


def test_an_app_that_is_done_is_completed(sim: OperatorSim) -> None:
    sim.bring_up(join(mode="batch"))
    sim.end(code=0, message=said("done", message=""))
    sim.settle()
    assert sim.status()["phase"] == "Completed"
    assert sim.says("Ready") == ("False", "Completed")
    sim.pass_time(3600)
    sim.settle()
    assert sim.drivers() == []


@ON_BOTH_SERVERS
def test_the_pods_of_an_app_that_is_done_go_when_nobody_needs_them(sim: OperatorSim) -> None:
    sim.bring_up(join(mode="batch", ttlSecondsAfterFinished=60))
    sim.end(code=0, message=said("done", message=""))
    outcome = sim.settle()
    assert sim.names("pods") == ["app-driver-1"]
    assert outcome.seconds == 60
    sim.pass_time(61)
    sim.settle()
    assert sim.names("pods") == []
    assert sim.status()["phase"] == "Completed"


def test_a_fault_of_the_app_is_told_with_its_field_and_not_tried_again(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.end(code=1, message=said("config", "InvalidSpec", "spec.operators[0].joinTable.select", "no column"))
    sim.settle()
    assert sim.says("Accepted") == ("False", "InvalidSpec")
    assert sim.condition("Accepted")["message"] == "spec.operators[0].joinTable.select: no column"
    sim.pass_time(3600)
    sim.settle()
    assert sim.drivers() == []
    assert sim.status()["phase"] == "Rejected"


def test_a_driver_that_finds_a_fault_of_the_app_after_it_was_ready_leaves_the_app_stalled(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join())
    sim.end(code=1, message=said("config", "StateChanged", "spec.operators[0]", "another meaning"))
    sim.settle()
    assert sim.status()["phase"] == "Failed"
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Stalled") == ("True", "DriverFailed")
    assert "another meaning" in sim.condition("Stalled")["message"]
    assert sim.says("Ready") == ("False", "DriverFailed")
    assert sim.says("Launched") == ("False", "DriverFailed")


def test_the_earlier_generation_is_launched_again_when_the_newer_one_turns_out_wrong(
    sim: OperatorSim,
) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.edit(operators=[*_with_select("user")])
    sim.settle()
    if "app-driver-1" in sim.names("pods"):
        sim.remove("app-driver-1")
    sim.settle()
    sim.begin()
    sim.end(code=1, message=said("config", "InvalidSpec", "spec.operators[0]", "no column"))
    sim.settle()
    assert sim.says("Accepted") == ("False", "InvalidSpec")
    assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    assert sim.status()["acceptedGeneration"] == 1


def _with_select(select: str) -> list[dict[str, object]]:
    return [
        {
            "name": "joined",
            "joinTable": {"from": "views", "table": "users", "type": "inner", "select": select},
        },
        {"name": "out", "sendTo": {"from": "joined", "stream": "enriched"}},
    ]


@ON_BOTH_SERVERS
@pytest.mark.parametrize(
    "status",
    [
        {"reason": "Evicted", "message": "the node was low on memory"},
        {
            "conditions": [
                {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"},
                {"type": "Ready", "status": "False"},
            ]
        },
    ],
)
def test_a_driver_that_was_taken_away_comes_back_at_once(sim: OperatorSim, status: dict[str, object]) -> None:
    sim.bring_up(join())
    sim.pass_time(60)
    sim.end(code=0, **status)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sim.status()["driver"]["lastEnding"]["outcome"] == "displaced"


@ON_BOTH_SERVERS
def test_a_driver_whose_pod_was_deleted_comes_back(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.pass_time(60)
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


def test_a_driver_is_not_followed_while_it_may_still_work(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.server.ask("DELETE", f"/api/v1/namespaces/{sim.namespace}/pods/app-driver-1")
    sim.settle()
    assert [pod["metadata"]["name"] for pod in sim.drivers()] == ["app-driver-1"]
    sim.remove("app-driver-1")
    sim.pass_time(60)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


@ON_BOTH_SERVERS
def test_executors_of_the_last_driver_are_gone_before_the_next_one_starts(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.executor(1)
    sim.executor(2)
    sim.pass_time(60)
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.drivers() == []
    executors = [pod for pod in sim.objects("pods") if "-exec-" in pod["metadata"]["name"]]
    assert [bool(pod["metadata"].get("deletionTimestamp")) for pod in executors] == [True, True]
    sim.remove("app-exec-1")
    sim.settle()
    assert sim.drivers() == []
    sim.remove("app-exec-2")
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


@ON_BOTH_SERVERS
def test_a_driver_whose_node_is_gone_is_given_up_at_once(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin(node=NO_NODE)
    sim.pass_time(60)
    sim.unready("app-driver-1")
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sim.status()["driver"]["lastEnding"]["outcome"] == "lost"


def run_on_silent_node(sim: OperatorSim, lost_timeout: str) -> None:
    """A driver runs, and its node does not answer any more."""
    node = f"{sim.namespace}-node"
    sim.node(node, "True")
    sim.apply(join(driver={"lostTimeout": lost_timeout}))
    sim.settle()
    sim.begin(node=node)
    sim.report()
    sim.settle()
    sim.node(node, "Unknown")
    sim.unready("app-driver-1")
    sim.settle()


def test_a_driver_whose_node_does_not_answer_is_given_up_after_a_while(sim: OperatorSim) -> None:
    run_on_silent_node(sim, lost_timeout="2m")
    sim.pass_time(119)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-1"
    sim.pass_time(2)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


def test_a_driver_whose_node_does_not_answer_is_looked_at_when_it_counts_as_lost(sim: OperatorSim) -> None:
    run_on_silent_node(sim, lost_timeout="15s")
    sim.pass_time(5)
    assert 9 < sim.settle().seconds < 11


@ON_BOTH_SERVERS
def test_a_status_that_was_cleared_by_hand_is_rebuilt(sim: OperatorSim) -> None:
    sim.bring_up(join())
    before = sim.status()
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app/status"
    sim.server.ask("PATCH", path, {"status": None}, "application/merge-patch+json")
    sim.restart()
    sim.settle()
    assert sim.status() == before
    assert len(sim.drivers()) == 1

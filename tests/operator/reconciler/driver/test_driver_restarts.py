"""What happens when a driver ends, and what when it can no longer be asked."""

import json

import pytest

from streamapp_operator.reconciler.facts.timestamps import format_timestamp
from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.simulated_cluster import NO_NODE
from tests.harness.operator.small_apps import join


def said(outcome: str, reason: str = "", path: str = "", message: str = "it went wrong") -> str:
    return json.dumps({"outcome": outcome, "reason": reason, "path": path, "message": message})


def test_a_driver_that_failed_is_followed_by_the_next_after_a_wait(stage: Stage) -> None:
    stage.bring_up(join())
    stage.end(code=3, message=said("retry", message="the broker went away"))
    outcome = stage.settle()
    assert stage.says("Launched") == ("False", "BackingOff")
    assert stage.status()["phase"] == "BackingOff"
    assert "the broker went away" in stage.condition("Degraded")["message"]
    assert stage.drivers() == []
    assert outcome.seconds == 5.0
    stage.pass_time(5)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"
    assert stage.status()["restarts"] == 1


def test_the_wait_doubles_with_each_failure_and_ends_at_the_longest(stage: Stage) -> None:
    stage.apply(join(restartPolicy={"backoff": "2s", "maxBackoff": "5s"}))
    stage.settle()
    waits = []
    for _ in range(4):
        stage.begin()
        stage.end(code=3)
        outcome = stage.settle()
        waits.append(outcome.seconds)
        stage.pass_time(outcome.seconds)
        stage.settle()
    assert waits == [2, 4, 5, 5]


def test_a_run_that_lasted_makes_the_count_start_again(stage: Stage) -> None:
    stage.apply(join(restartPolicy={"backoff": "2s", "resetAfter": "1h"}))
    stage.settle()
    for lasted in (1, 3600):
        stage.begin()
        stage.pass_time(lasted)
        stage.end(code=3)
        outcome = stage.settle()
        assert outcome.seconds == 2
        stage.pass_time(2)
        stage.settle()


def test_restarts_end_at_the_limit_and_a_new_nonce_begins_anew(stage: Stage) -> None:
    stage.apply(join(restartPolicy={"backoff": "0s", "maxRestarts": 1}))
    stage.settle()
    for _ in range(2):
        stage.begin()
        stage.end(code=3)
        stage.settle()
    assert stage.drivers() == []
    assert stage.status()["phase"] == "Failed"
    assert stage.says("Stalled") == ("True", "RestartsExhausted")
    stage.edit(restartNonce=1)
    stage.settle()
    assert len(stage.drivers()) == 1


def test_an_app_that_may_never_restart_does_not(stage: Stage) -> None:
    stage.bring_up(join(restartPolicy={"type": "Never"}))
    stage.end(code=3)
    stage.settle()
    stage.pass_time(3600)
    stage.settle()
    assert stage.drivers() == []
    assert stage.status()["phase"] == "Failed"


def test_an_app_that_is_done_is_completed(stage: Stage) -> None:
    stage.bring_up(join(mode="batch"))
    stage.end(code=0, message=said("done", message=""))
    stage.settle()
    assert stage.status()["phase"] == "Completed"
    assert stage.says("Ready") == ("False", "Completed")
    stage.pass_time(3600)
    stage.settle()
    assert stage.drivers() == []


def test_the_pods_of_an_app_that_is_done_go_when_nobody_needs_them(stage: Stage) -> None:
    stage.bring_up(join(mode="batch", ttlSecondsAfterFinished=60))
    stage.end(code=0, message=said("done", message=""))
    outcome = stage.settle()
    assert stage.names("pods") == ["app-driver-1"]
    assert outcome.seconds == 60
    stage.pass_time(61)
    stage.settle()
    assert stage.names("pods") == []
    assert stage.status()["phase"] == "Completed"


def test_a_fault_of_the_app_is_told_with_its_field_and_not_tried_again(stage: Stage) -> None:
    stage.apply(join())
    stage.settle()
    stage.begin()
    stage.end(
        code=1, message=said("config", "InvalidSpec", "spec.operators[0].joinTable.select", "no column")
    )
    stage.settle()
    assert stage.says("Accepted") == ("False", "InvalidSpec")
    assert stage.condition("Accepted")["message"] == "spec.operators[0].joinTable.select: no column"
    stage.pass_time(3600)
    stage.settle()
    assert stage.drivers() == []
    assert stage.status()["phase"] == "Rejected"


def test_the_earlier_generation_is_launched_again_when_the_newer_one_turns_out_wrong(stage: Stage) -> None:
    stage.apply(join())
    stage.settle()
    stage.begin()
    stage.edit(operators=[*_with_select("user")])
    stage.settle()
    if "app-driver-1" in stage.names("pods"):
        stage.remove("app-driver-1")
    stage.settle()
    stage.begin()
    stage.end(code=1, message=said("config", "InvalidSpec", "spec.operators[0]", "no column"))
    stage.settle()
    assert stage.says("Accepted") == ("False", "InvalidSpec")
    assert stage.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    assert stage.status()["acceptedGeneration"] == 1


def _with_select(select: str) -> list[dict[str, object]]:
    return [
        {
            "name": "joined",
            "joinTable": {"from": "views", "table": "users", "type": "inner", "select": select},
        },
        {"name": "out", "sendTo": {"from": "joined", "stream": "enriched"}},
    ]


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
def test_a_driver_that_was_taken_away_comes_back_at_once(stage: Stage, status: dict[str, object]) -> None:
    stage.bring_up(join())
    stage.pass_time(60)
    stage.end(code=0, **status)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"
    assert stage.status()["driver"]["lastEnding"]["outcome"] == "displaced"


def test_a_driver_whose_pod_was_deleted_comes_back(stage: Stage) -> None:
    stage.bring_up(join())
    stage.pass_time(60)
    stage.remove("app-driver-1")
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"


def test_a_driver_is_not_followed_while_it_may_still_work(stage: Stage) -> None:
    stage.bring_up(join())
    stage.server.ask("DELETE", f"/api/v1/namespaces/{stage.namespace}/pods/app-driver-1")
    stage.settle()
    assert [pod["metadata"]["name"] for pod in stage.drivers()] == ["app-driver-1"]
    stage.remove("app-driver-1")
    stage.pass_time(60)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"


def test_executors_of_the_last_driver_are_gone_before_the_next_one_starts(stage: Stage) -> None:
    stage.bring_up(join())
    stage.executor(1)
    stage.executor(2)
    stage.pass_time(60)
    stage.remove("app-driver-1")
    stage.settle()
    assert stage.drivers() == []
    assert all(pod["metadata"].get("deletionTimestamp") for pod in stage.objects("pods"))
    stage.remove("app-exec-1")
    stage.settle()
    assert stage.drivers() == []
    stage.remove("app-exec-2")
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"


def _node(stage: Stage, name: str, ready: str) -> None:
    stage.server.call("POST", "/api/v1/nodes", {"metadata": {"name": name}})
    ready_now = {"type": "Ready", "status": ready, "lastTransitionTime": format_timestamp(stage.now)}
    stage.server.ask(
        "PATCH",
        f"/api/v1/nodes/{name}/status",
        {"status": {"conditions": [ready_now]}},
        "application/merge-patch+json",
    )


def test_a_driver_whose_node_is_gone_is_given_up_at_once(stage: Stage) -> None:
    stage.apply(join())
    stage.settle()
    stage.begin(node=NO_NODE)
    stage.pass_time(60)
    stage.unready("app-driver-1")
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"
    assert stage.status()["driver"]["lastEnding"]["outcome"] == "lost"


def test_a_driver_whose_node_does_not_answer_is_given_up_after_a_while(stage: Stage) -> None:
    node = f"{stage.namespace}-node"
    _node(stage, node, "True")
    stage.apply(join(driver={"lostTimeout": "2m"}))
    stage.settle()
    stage.begin(node=node)
    stage.report()
    stage.settle()
    _node(stage, node, "Unknown")
    stage.unready("app-driver-1")
    stage.settle()
    stage.pass_time(119)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-1"
    stage.pass_time(2)
    stage.settle()
    assert stage.driver()["metadata"]["name"] == "app-driver-2"


def test_a_status_that_was_cleared_by_hand_is_rebuilt(stage: Stage) -> None:
    stage.bring_up(join())
    before = stage.status()
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{stage.namespace}/streamapps/app/status"
    stage.server.ask("PATCH", path, {"status": None}, "application/merge-patch+json")
    stage.restart()
    stage.settle()
    assert stage.status() == before
    assert len(stage.drivers()) == 1

"""Numbers that never go back, whatever is deleted by hand, and clocks of nodes that are wrong."""

from datetime import UTC, datetime
from typing import Any

import pytest

from streamapp_operator.reconciler.facts.timestamps import format_timestamp, parse_timestamp
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join


def delete_config_map(sim: OperatorSim, name: str) -> None:
    sim.server.ask("DELETE", f"/api/v1/namespaces/{sim.namespace}/configmaps/{name}")


def test_drivers_that_are_deleted_again_and_again_are_no_failures(sim: OperatorSim) -> None:
    sim.bring_up(join(restartPolicy={"backoff": "1m", "maxRestarts": 2}))
    for number in range(1, 6):
        sim.remove(f"app-driver-{number}")
        sim.settle()
        assert sim.driver()["metadata"]["name"] == f"app-driver-{number + 1}"
    assert sim.status()["driver"]["failures"] == 0
    assert sim.says("Degraded")[0] == "False"


def test_drivers_that_kubernetes_takes_away_before_they_work_are_followed_after_a_wait(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(restartPolicy={"backoff": "1m"}))
    sim.end(code=0, reason="Evicted", message="the node was low on memory")
    outcome = sim.settle()
    assert sim.drivers() == []
    assert outcome.seconds == 60


def test_numbers_of_drivers_go_on_without_status_and_job_model(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.fail_driver(60)
    sim.begin()
    sim.report()
    sim.remove("app-driver-2")
    if "app-driver-1" in sim.names("pods"):
        sim.remove("app-driver-1")
    delete_config_map(sim, "app-job-model")
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app/status"
    sim.server.ask("PATCH", path, {"status": None}, "application/merge-patch+json")
    sim.restart()
    sim.pass_time(60)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-3"


def test_versions_of_job_models_go_on_where_the_newest_was_deleted(sim: OperatorSim) -> None:
    sim.bring_up(join(processors=2))
    sim.edit(processors=3)
    sim.settle()
    deleted_version = sim.model().version
    assert deleted_version > sim.reported().model_version
    delete_config_map(sim, "app-job-model")
    sim.settle()
    sim.fail_driver(60)
    assert sim.model().version > deleted_version
    assert sim.status()["jobModel"]["version"] == sim.model().version


@pytest.mark.parametrize("ahead", [-86_400, -600, 600, 86_400])
def test_a_node_with_a_wrong_clock_neither_holds_a_restart_back_nor_hurries_it(
    sim: OperatorSim, ahead: int
) -> None:
    sim.bring_up(join())
    sim.pass_time(1)
    pod = sim.driver()["metadata"]
    now, sim.now = sim.now, sim.now + ahead
    terminated = {
        "exitCode": 3,
        "startedAt": format_timestamp(sim.now - 1),
        "finishedAt": format_timestamp(sim.now),
    }
    status = {"name": "driver", "image": "x", "imageID": "", "restartCount": 0, "ready": False}
    path = f"/api/v1/namespaces/{sim.namespace}/pods/{pod['name']}/status"
    change = {"phase": "Failed", "containerStatuses": [{**status, "state": {"terminated": terminated}}]}
    sim.server.ask("PATCH", path, {"status": change}, "application/merge-patch+json")
    sim.now = now
    outcome = sim.settle()
    assert sim.drivers() == []
    assert 0 < outcome.seconds <= 5
    sim.pass_time(outcome.seconds)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


def patch_status(sim: OperatorSim, status: dict[str, Any]) -> None:
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app/status"
    sim.server.ask("PATCH", path, {"status": status}, "application/merge-patch+json")


def test_times_of_an_operator_whose_clock_was_ahead_hold_nothing_back(sim: OperatorSim) -> None:
    """They are in the status, and the next operator reads them."""
    sim.bring_up(join(restartPolicy={"backoff": "4s"}))
    sim.end(code=3)
    sim.settle()
    tomorrow = format_timestamp(sim.now + 86_400)
    conditions = [one | {"lastTransitionTime": tomorrow} for one in sim.status()["conditions"]]
    ending = sim.status()["driver"]["lastEnding"] | {"endedAt": tomorrow}
    patch_status(sim, {"conditions": conditions, "driver": {"lastEnding": ending}})
    outcome = sim.settle()
    assert 0 < outcome.seconds <= 4
    assert {one["lastTransitionTime"] for one in sim.status()["conditions"]} == {format_timestamp(sim.now)}
    sim.pass_time(outcome.seconds)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


def test_a_moment_to_settle_that_began_by_a_clock_ahead_begins_anew(sim: OperatorSim) -> None:
    sim.bring_up(join(onPartitionChange="restart"))
    sim.report(counts={"views": 16, "users": 8})
    sim.settle()
    assert sim.says("Progressing") == ("True", "PartitionsGrew")
    wrong = sim.condition("Progressing") | {"lastTransitionTime": format_timestamp(sim.now + 86_400)}
    others = [one for one in sim.status()["conditions"] if one["type"] != "Progressing"]
    patch_status(sim, {"conditions": [*others, wrong]})
    assert sim.settle().seconds == 5.0
    assert "app-driver-1" in sim.names("pods")
    sim.pass_time(5)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


@pytest.mark.parametrize("ahead", [-86_400, 0, 86_400])
def test_a_node_that_calls_itself_unready_by_a_wrong_clock_is_waited_for_as_long_as_any(
    sim: OperatorSim, ahead: int
) -> None:
    node = f"{sim.namespace}-node"
    sim.apply(join(driver={"lostTimeout": "2m"}))
    sim.settle()
    sim.begin(node=node)
    sim.report()
    sim.settle()
    sim.server.call("POST", "/api/v1/nodes", {"metadata": {"name": node}})
    written = format_timestamp(sim.now + ahead)
    ready = {"type": "Ready", "status": "False", "lastTransitionTime": written}
    path = f"/api/v1/nodes/{node}/status"
    sim.server.ask("PATCH", path, {"status": {"conditions": [ready]}}, "application/merge-patch+json")
    sim.unready("app-driver-1")
    sim.settle()
    sim.pass_time(119)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-1"
    assert sim.status()["driver"]["incarnation"] == 1
    sim.pass_time(2)
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-2"


@pytest.mark.parametrize("ahead", [-86_400, 86_400])
def test_a_driver_starts_neither_before_its_pod_was_made_nor_after_now(sim: OperatorSim, ahead: int) -> None:
    """Of a pod that is gone only the status knows how long it ran."""
    sim.now = datetime.now(UTC).timestamp() + 5
    sim.apply(join())
    sim.settle()
    now, sim.now = sim.now, sim.now + ahead
    sim.begin()
    sim.now = now
    sim.settle()
    started_at = parse_timestamp(sim.status()["driver"]["startedAt"])
    assert started_at is not None
    assert now - 60 <= started_at <= now

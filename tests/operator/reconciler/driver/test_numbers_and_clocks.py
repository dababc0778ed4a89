"""Numbers that never go back, whatever is deleted by hand, and clocks of nodes that are wrong."""

import pytest

from streamapp_operator.reconciler.facts.timestamps import format_timestamp
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

"""The next driver starts beside the one that it replaces, and takes over when nothing of that one is left."""

import signal
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp.protocol.message_names import INCARNATION, LIVENESS_PATH, READINESS_PATH
from streamapp_operator.reconciler.driver.driver_decision import SETTLE_SECONDS
from streamapp_operator.reconciler.driver.successor import STANDBY_RETRY_SECONDS, WARM_UP_SECONDS
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.executor_limits import LIMITS_ANNOTATION
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from streamapp_operator.reconciler.pods.driver_pod import has_early_executors
from tests.harness.api_server.api_server import ApiServer
from tests.harness.kafka.clients import created
from tests.harness.machine.processes import Child, free_port, until
from tests.harness.operator.driver_kubelet import contained
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

PATIENCE_SECONDS = 240.0
READY_SECONDS = 30.0
"""Within which a standby is ready whose executors no node has room for."""


@pytest.fixture
def running(sim: OperatorSim) -> OperatorSim:
    """A simulation with an app that has run for a while, and has an executor."""
    return _brought_up(sim, join())


@pytest.fixture
def on_kafka(sim: OperatorSim, kafka: str) -> OperatorSim:
    """The same on a broker that has the inputs: a standby is not ready before it has compiled its app."""
    app = join(systems=[{"name": "main", "kafka": {"bootstrapServers": kafka}}])
    for stream in app["spec"]["streams"]:
        stream["topic"] = created(kafka, 8)
    return _brought_up(sim, app)


def _brought_up(sim: OperatorSim, app: dict[str, Any]) -> OperatorSim:
    sim.bring_up(app)
    sim.executor(1, driver="app-driver-1")
    sim.pass_time(600)
    return sim


def _edited(sim: OperatorSim) -> None:
    """An edit has been made that needs another driver, whose pod does not run yet."""
    sim.edit(restartNonce=1)
    sim.settle(warms_up=False)


def _name(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["name"])


def _is_leaving(sim: OperatorSim) -> bool:
    return "deletionTimestamp" in sim.driver()["metadata"]


def _published(sim: OperatorSim) -> int:
    return int(sim.config_map("app-job-model")["metadata"]["annotations"][INCARNATION])


def test_the_driver_runs_on_until_its_successor_is_ready(running: OperatorSim) -> None:
    _edited(running)
    assert [_name(pod) for pod in running.successors()] == ["app-driver-2"]
    assert _name(running.driver()) == "app-driver-1"
    assert not _is_leaving(running)
    assert running.says("Ready") == ("True", "Running")
    assert running.says("Progressing") == ("True", "SpecChanged")
    assert "app-driver-2 starts next to app-driver-1" in running.condition("Progressing")["message"]
    assert running.status()["phase"] == "Running"
    running.settle()
    assert _is_leaving(running)


def test_it_takes_over_when_the_pods_of_the_last_driver_are_gone(running: OperatorSim) -> None:
    _edited(running)
    running.settle()
    running.remove("app-driver-1")
    running.settle()
    assert running.drivers() == []
    assert _published(running) == 1
    running.remove("app-1-exec-1")
    running.settle()
    assert _published(running) == 2
    assert _name(running.driver()) == "app-driver-2"
    assert running.status()["restarts"] == 1
    running.report()
    running.settle()
    assert running.says("Ready") == ("True", "Running")


def test_it_takes_over_when_the_last_driver_has_released_its_lanes(running: OperatorSim) -> None:
    _edited(running)
    running.settle()
    assert _is_leaving(running)
    assert _published(running) == 1
    running.report(DriverState.ENDED)
    running.settle()
    assert _published(running) == 2
    status = running.status()
    assert status["restarts"] == 1
    ending = status["driver"]["lastEnding"]
    assert (ending["incarnation"], ending["outcome"]) == (1, "stopped")
    assert status["driver"]["pod"] == "app-driver-2"
    running.remove("app-driver-1")
    running.remove("app-1-exec-1")
    running.settle()
    assert _published(running) == 2
    running.report()
    running.settle()
    assert running.says("Ready") == ("True", "Running")
    assert running.status()["driver"]["lastEnding"] == ending


def test_it_takes_over_from_a_driver_whose_pod_was_deleted_and_has_released_its_lanes(
    running: OperatorSim,
) -> None:
    running.server.ask("DELETE", f"/api/v1/namespaces/{running.namespace}/pods/app-driver-1")
    running.settle()
    assert _published(running) == 1
    running.report(DriverState.ENDED)
    running.settle()
    assert _published(running) == 2
    assert running.status()["driver"]["lastEnding"]["outcome"] == "displaced"


def test_a_driver_that_has_released_its_lanes_is_waited_for_where_no_successor_is_ready(
    running: OperatorSim,
) -> None:
    running.server.ask("DELETE", f"/api/v1/namespaces/{running.namespace}/pods/app-driver-1")
    running.settle(warms_up=False)
    assert _is_leaving(running)
    running.report(DriverState.ENDED)
    running.settle(warms_up=False)
    assert _published(running) == 1


def test_a_driver_that_only_says_that_it_ended_is_not_taken_over_from(running: OperatorSim) -> None:
    _edited(running)
    running.report(DriverState.ENDED)
    running.settle(warms_up=False)
    assert _published(running) == 1
    assert not _is_leaving(running)


def test_executors_of_the_successor_start_beside_those_of_the_driver(running: OperatorSim) -> None:
    _edited(running)
    (successor,) = running.successors()
    assert has_early_executors(successor)
    running.settle()
    name = running.executor(1, driver="app-driver-2")
    running.settle()
    assert running.says("Degraded") == ("False", "Healthy")
    running.remove("app-driver-1")
    running.settle()
    assert _published(running) == 1
    assert "deletionTimestamp" not in running.pod(name)["metadata"]
    running.remove("app-1-exec-1")
    running.settle()
    assert _published(running) == 2
    assert "deletionTimestamp" not in running.pod(name)["metadata"]


def test_both_generations_are_named_by_the_limits_of_executors(running: OperatorSim) -> None:
    def images() -> set[str]:
        path = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{running.namespace}/rolebindings/app-driver"
        limits = running.server.ask("GET", path)["metadata"]["annotations"][LIMITS_ANNOTATION]
        return {limit for limit in limits.splitlines() if limit.startswith("image/")}

    before = images()
    running.edit(image="registry.example/runtime:2")
    running.settle(warms_up=False)
    assert images() == before | {"image/registry.example/runtime:2"}
    running.settle()
    running.remove("app-driver-1")
    running.remove("app-1-exec-1")
    running.settle()
    assert images() == {"image/registry.example/runtime:2"}


def test_executors_with_claims_wait_for_those_of_the_last_driver(sim: OperatorSim) -> None:
    sim.bring_up(join(state={"persistentVolumeClaim": {"size": "1Gi"}}))
    _edited(sim)
    (successor,) = sim.successors()
    assert not has_early_executors(successor)


def test_a_standby_gives_way_to_one_with_executors_where_the_driver_can_wait(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}, onPartitionChange="restart"))
    (standby,) = sim.successors()
    assert not has_early_executors(standby)
    sim.pass_time(60)
    sim.report(counts={"views": 16, "users": 8})
    sim.table.answer = KnownCounts({"views": 16, "users": 8, "enriched": 8})
    sim.settle()
    sim.pass_time(SETTLE_SECONDS)
    sim.settle(warms_up=False)
    assert "deletionTimestamp" in sim.pod("app-driver-2")["metadata"]
    sim.remove("app-driver-2")
    sim.settle(warms_up=False)
    (successor,) = sim.successors()
    assert _name(successor) == "app-driver-3"
    assert has_early_executors(successor)
    assert not _is_leaving(sim)


def test_a_driver_that_is_deleted_has_a_successor_while_it_ends(running: OperatorSim) -> None:
    running.server.ask("DELETE", f"/api/v1/namespaces/{running.namespace}/pods/app-driver-1")
    running.settle()
    assert [_name(pod) for pod in running.successors()] == ["app-driver-2"]
    assert _published(running) == 1


def test_an_edit_that_is_taken_back_takes_the_successor_away(running: OperatorSim) -> None:
    running.edit(driver={"sparkConf": {"spark.ui.retainedJobs": "1"}})
    running.settle(warms_up=False)
    assert [_name(pod) for pod in running.successors()] == ["app-driver-2"]
    running.edit(driver={"sparkConf": None})
    running.settle(warms_up=False)
    assert all("deletionTimestamp" in pod["metadata"] for pod in running.successors())
    assert not _is_leaving(running)


def test_another_edit_has_a_successor_of_its_own(running: OperatorSim) -> None:
    _edited(running)
    running.edit(restartNonce=2)
    running.settle(warms_up=False)
    (successor,) = running.successors()
    assert _name(successor) == "app-driver-3"
    assert successor["metadata"]["labels"]["streamapp.dev/generation"] == "3"


def test_an_app_that_is_suspended_meanwhile_has_no_successor(running: OperatorSim) -> None:
    _edited(running)
    running.edit(suspend=True)
    running.settle(warms_up=False)
    assert all("deletionTimestamp" in pod["metadata"] for pod in running.successors())


def test_an_app_with_a_standby_always_has_a_driver_that_can_take_over(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    assert [_name(pod) for pod in sim.successors()] == ["app-driver-2"]
    assert sim.says("Progressing") == ("False", "Stable")
    sim.pass_time(60)
    sim.end(code=137)
    sim.settle()
    assert _name(sim.driver()) == "app-driver-2"
    assert _published(sim) == 2
    assert sim.successors() == []  # the next one would take CPU from the one that starts
    sim.report()
    sim.settle()
    assert [_name(pod) for pod in sim.successors()] == ["app-driver-3"]


def test_a_driver_and_its_standby_are_spread_over_nodes(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    for pod in (sim.driver(), *sim.successors()):
        (constraint,) = pod["spec"]["topologySpreadConstraints"]
        assert constraint["topologyKey"] == "kubernetes.io/hostname"
        assert constraint["whenUnsatisfiable"] == "ScheduleAnyway"
        assert constraint["labelSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_they_are_spread_as_the_template_of_the_app_says(sim: OperatorSim) -> None:
    own = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"streamapp.dev/app": "app"}},
    }
    template = {"spec": {"topologySpreadConstraints": [own]}}
    sim.bring_up(join(driver={"standby": True, "template": template}))
    for pod in (sim.driver(), *sim.successors()):
        assert pod["spec"]["topologySpreadConstraints"] == [own]


def test_a_driver_without_a_standby_is_not_spread(running: OperatorSim) -> None:
    assert "topologySpreadConstraints" not in running.driver()["spec"]


def test_a_standby_with_executors_takes_over_without_waiting_for_those_of_a_driver_that_failed(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(driver={"standby": True, "standbyExecutors": True}))
    (standby,) = sim.successors()
    assert has_early_executors(standby)
    for driver in ("app-driver-1", "app-driver-2"):
        sim.executor(1, driver=driver)
    sim.pass_time(60)
    sim.settle()
    assert sim.says("Degraded") == ("False", "Healthy")
    sim.end(code=137)
    sim.settle()
    assert _published(sim) == 2
    assert "app-1-exec-1" in sim.names("pods")
    sim.remove("app-1-exec-1")
    sim.report()
    sim.settle()
    (standby,) = sim.successors()
    assert _name(standby) == "app-driver-3"
    assert has_early_executors(standby)


def test_a_standby_without_executors_is_followed_by_one_that_has_them_once_the_app_asks_for_them(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(driver={"standby": True}))
    sim.edit(driver={"standby": True, "standbyExecutors": True})
    sim.settle(warms_up=False)
    if "app-driver-2" in sim.names("pods"):
        sim.remove("app-driver-2")
        sim.settle(warms_up=False)
    (standby,) = sim.successors()
    assert has_early_executors(standby)
    assert _published(sim) == 1


def test_a_standby_that_failed_is_no_reason_to_replace_the_driver(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    sim.end("app-driver-2", code=1)
    sim.settle()
    assert sim.successors() == []
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Degraded") == ("True", "StandbyMissing")
    assert "app-driver-2 ended" in sim.condition("Degraded")["message"]
    sim.pass_time(STANDBY_RETRY_SECONDS)
    sim.settle()
    assert [_name(pod) for pod in sim.successors()] == ["app-driver-3"]
    assert "app-driver-2" not in sim.names("pods")
    assert sim.says("Degraded") == ("False", "Healthy")


def test_a_standby_without_room_or_that_does_not_get_ready_is_told(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    sim.end("app-driver-2", code=1)
    sim.settle()
    sim.pass_time(STANDBY_RETRY_SECONDS)
    sim.settle(warms_up=False)
    assert sim.says("Degraded") == ("False", "Healthy")
    sim.pass_time(time.time() - sim.now + WARM_UP_SECONDS)  # the API server says when a pod was created
    sim.settle(warms_up=False)
    assert sim.says("Degraded") == ("True", "StandbyMissing")
    assert "app-driver-3 has not got ready" in sim.condition("Degraded")["message"]
    sim.leave_unscheduled("app-driver-3", "no room")
    sim.settle(warms_up=False)
    assert "app-driver-3: Unschedulable" in sim.condition("Degraded")["message"]
    assert sim.says("Ready") == ("True", "Running")


def test_a_driver_whose_node_is_not_ready_has_a_successor_before_it_is_given_up(
    running: OperatorSim,
) -> None:
    node = f"{running.namespace}-node"
    running.remove("app-driver-1")
    running.remove("app-1-exec-1")
    running.settle()
    running.begin(node=node)
    running.report()
    running.settle()
    running.unready("app-driver-2")
    running.node(node, "Unknown")
    running.settle()
    assert [_name(pod) for pod in running.successors()] == ["app-driver-3"]
    assert _name(running.driver()) == "app-driver-2"
    running.node(node, "True")
    running.settle()
    assert all("deletionTimestamp" in pod["metadata"] for pod in running.successors())


def test_an_operator_that_begins_meanwhile_goes_on_with_the_successor(running: OperatorSim) -> None:
    _edited(running)
    running.restart()
    running.settle()
    running.remove("app-driver-1")
    running.remove("app-1-exec-1")
    running.restart()
    running.settle()
    assert _name(running.driver()) == "app-driver-2"
    assert running.names("pods") == ["app-driver-2"]


def test_the_set_of_the_last_executors_is_gone_before_the_successor_may_make_its_own(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(state={"persistentVolumeClaim": {"size": "1Gi"}}))
    _edited(sim)
    name = object_names.executor_set(sim.app()["metadata"]["uid"])
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "x"}]},
    }
    spec = {"serviceName": "x", "selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = f"/apis/apps/v1/namespaces/{sim.namespace}/statefulsets"
    sim.server.ask("POST", path, {"metadata": {"name": name}, "spec": spec})
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert _published(sim) == 2
    assert sim.names("statefulsets", "apis/apps/v1") == []


@ON_REAL_SERVER
def test_a_standby_driver_gets_ready_and_says_nothing_until_it_takes_over(
    on_kafka: OperatorSim, tmp_path: Path
) -> None:
    _edited(on_kafka)
    port = free_port()
    with _standby_child(on_kafka, port, tmp_path) as child:
        until(lambda: _passes(port, LIVENESS_PATH), PATIENCE_SECONDS, child)
        until(lambda: "app-2-exec-1" in on_kafka.names("pods"), PATIENCE_SECONDS, child)
        # One of the other driver says nothing of this one's.
        on_kafka.leave_unscheduled("app-1-exec-1", "no room")
        assert not _passes(port, READINESS_PATH)
        # This one is not waited for while the other driver has the room.
        on_kafka.leave_unscheduled("app-2-exec-1", "no room")
        until(lambda: _passes(port, READINESS_PATH), READY_SECONDS, child)
        assert on_kafka.reported().driver == "app-driver-1"
        on_kafka.settle()
        on_kafka.remove("app-driver-1")
        on_kafka.remove("app-1-exec-1")
        on_kafka.settle()
        assert "app-2-exec-1" in on_kafka.names("pods")
        until(lambda: on_kafka.reported().driver == "app-driver-2", PATIENCE_SECONDS, child)
        # Its first report may be followed within milliseconds by the one that it waits for executors.
        assert on_kafka.reported().state in (DriverState.STARTING, DriverState.WAITING)


@ON_REAL_SERVER
def test_a_standby_driver_that_is_told_to_end_ends_at_once(on_kafka: OperatorSim, tmp_path: Path) -> None:
    """The next standby is created when it is gone."""
    _edited(on_kafka)
    port = free_port()
    with _standby_child(on_kafka, port, tmp_path) as child:
        until(lambda: "app-2-exec-1" in on_kafka.names("pods"), PATIENCE_SECONDS, child)
        on_kafka.leave_unscheduled("app-2-exec-1", "no room")
        until(lambda: _passes(port, READINESS_PATH), READY_SECONDS, child)
        child.signal(signal.SIGTERM)
        assert child.wait(PATIENCE_SECONDS) == 0
    assert on_kafka.reported().driver == "app-driver-1"


def _standby_child(sim: OperatorSim, port: int, folder: Path) -> Child:
    """The process of the second driver, whose executors are pods of the API server."""
    server = sim.server
    assert isinstance(server, ApiServer)
    account_of = "spark.kubernetes.authenticate."
    spark = {
        "spark.master": f"k8s://{server.url}",
        "spark.driver.host": "127.0.0.1",
        f"{account_of}caCertFile": str(folder / "account" / "ca.crt"),
        f"{account_of}oauthTokenFile": str(folder / "account" / "token"),
    }
    return contained(sim, "app-driver-2", folder, metrics_port=port, **spark)


def _passes(port: int, path: str) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except HTTPError as error:
        assert error.code == 503
        return False
    except OSError:
        return False


def test_no_driver_is_made_beside_a_standby_that_is_ending(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    assert [_name(pod) for pod in sim.successors()] == ["app-driver-2"]
    sim.edit(driver={"standby": False})
    sim.settle()
    assert "deletionTimestamp" in sim.pod("app-driver-2")["metadata"]
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.names("pods") == ["app-driver-2"]
    assert sim.condition("Progressing")["message"] == "standby driver app-driver-2 is ending"
    sim.remove("app-driver-2")
    sim.settle()
    assert sim.names("pods") == ["app-driver-3"]


def test_a_standby_that_is_not_gone_in_time_holds_up_no_driver(sim: OperatorSim) -> None:
    sim.bring_up(join(driver={"standby": True}))
    sim.edit(driver={"standby": False})
    sim.settle()
    sim.remove("app-driver-1")
    # By the clock of the API server.
    deadline = parse_timestamp(sim.pod("app-driver-2")["metadata"]["deletionTimestamp"])
    assert deadline is not None
    sim.pass_time(deadline - sim.now + 9)
    sim.settle()
    assert sim.names("pods") == ["app-driver-2"]
    sim.pass_time(2)
    sim.settle()
    assert sim.names("pods") == ["app-driver-3"]

"""No edit ends what runs: one whose driver or executors cannot start is refused, and the driver runs on."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState
from streamapp_operator.controller.workqueue.reconcile_outcome import RequeueAfter
from streamapp_operator.reconciler.driver.failed_start import (
    MOST_FAILED_STARTS,
    START_SECONDS,
    TROUBLE_SECONDS,
    UNSCHEDULABLE_SECONDS,
    start_obstacle,
)
from streamapp_operator.reconciler.facts.pod_state import MOUNT_SECONDS, read_pod
from streamapp_operator.reconciler.facts.timestamps import format_timestamp
from streamapp_operator.reconciler.objects.configuration_versions import CONFIGURATION_SECONDS
from tests.harness.api_server.memory_api import MemoryApi, Object, Refused
from tests.harness.operator.operator_sim import START, OperatorSim
from tests.harness.operator.small_apps import join

NO_ROOM = "0/3 nodes are available: 3 Insufficient memory."
NO_NODE = "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."
UNBOUND = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims."
LARGER = {"resources": {"requests": {"memory": "64Gi"}}}


@pytest.fixture
def running(sim: OperatorSim) -> OperatorSim:
    """A simulation with an app that has run for a while, and has executors."""
    return _brought_up(sim)


def _brought_up(sim: OperatorSim, **spec: Any) -> OperatorSim:
    sim.bring_up(join(**spec))
    for number in (1, 2):
        sim.executor(number, driver="app-driver-1")
    sim.pass_time(600)
    return sim


def _try_edit(sim: OperatorSim, **spec: Any) -> str:
    """An edit has been made that needs another driver; the pod of its successor."""
    sim.edit(**(spec or {"image": "registry.example/runtime:2"}))
    sim.settle(warms_up=False)
    (successor,) = sim.successors()
    return str(successor["metadata"]["name"])


def _pass(sim: OperatorSim, seconds: float) -> None:
    sim.settle(warms_up=False)
    sim.pass_time(seconds)
    sim.settle(warms_up=False)


def _assert_untouched(sim: OperatorSim) -> None:
    """The driver runs as if nobody had edited anything, and nothing says that it ends."""
    assert sim.driver()["metadata"]["name"] == "app-driver-1"
    assert "deletionTimestamp" not in sim.driver()["metadata"]
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Launched") == ("True", "Launched")
    assert sim.status()["phase"] == "Running"
    conditions = [one["reason"] for one in sim.status()["conditions"]]
    assert "DriverEnding" not in conditions
    assert not [message for _, _, message in sim.events() if "is asked to end" in message]


def _end_leaving(sim: OperatorSim) -> None:
    """Kubelets end what was asked to go, and executors go with their driver."""
    for pod in sim.objects("pods"):
        owners = [
            owner["name"] for owner in pod["metadata"].get("ownerReferences") or () if owner["kind"] == "Pod"
        ]
        if "deletionTimestamp" in pod["metadata"] or not set(owners) <= set(sim.names("pods")):
            sim.remove(pod["metadata"]["name"])
    sim.settle(warms_up=False)


def _assert_refused(sim: OperatorSim, reason: str, *words: str, newest: int = 2) -> None:
    """The edit is refused for this, and what was made for it is gone."""
    _assert_untouched(sim)
    assert sim.says("Accepted") == ("False", reason)
    message = sim.condition("Accepted")["message"]
    for word in words:
        assert word in message
    assert sim.says("Stalled") == ("True", reason)
    assert sim.says("Progressing") == ("False", "Stable")
    assert sim.status()["acceptedGeneration"] < newest
    _end_leaving(sim)
    _end_leaving(sim)
    assert sim.successors() == []
    pods = [name for name in sim.names("pods") if "driver" in name]
    assert pods == ["app-driver-1"]
    _pass(sim, START_SECONDS)
    assert sim.successors() == [], "nothing has changed, and it is tried again"
    assert sim.says("Accepted") == ("False", reason)


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CreateContainerConfigError"])
def test_a_driver_whose_container_cannot_start_ends_nobody(running: OperatorSim, reason: str) -> None:
    successor = _try_edit(running)
    running.hold_back(successor, reason, "no such thing")
    _pass(running, TROUBLE_SECONDS - 1)
    _assert_untouched(running)
    assert running.says("Progressing") == ("True", "SpecChanged")
    assert f"{successor} cannot start: {reason}: no such thing" in running.condition("Progressing")["message"]
    _pass(running, 2)
    _assert_refused(running, reason, "spec.image", successor, "no such thing")


@pytest.mark.parametrize(
    "reason",
    [
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "CrashLoopBackOff",
    ],
)
@pytest.mark.parametrize("statuses", ["containerStatuses", "initContainerStatuses"])
def test_each_word_of_kubernetes_for_a_container_that_cannot_start_is_one_for_the_driver(
    reason: str, statuses: str
) -> None:
    """Be it the driver's own container, or one beside it or before it."""
    waiting = {"waiting": {"reason": reason, "message": "so it is"}}
    manifest = {
        "metadata": {"name": "app-driver-2", "creationTimestamp": format_timestamp(START)},
        "status": {"phase": "Pending", statuses: [{"name": "another", "state": waiting}]},
    }
    pod = read_pod(manifest, "streamapp")
    obstacle = start_obstacle(pod, [], START + 20)
    assert obstacle is not None
    assert (obstacle.reason, obstacle.seconds_left) == (reason, TROUBLE_SECONDS - 20)
    assert obstacle.message == f"app-driver-2 cannot start: {reason}: so it is"


def test_one_that_comes_in_time_takes_over(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.hold_back(successor, "ErrImagePull")
    _pass(running, TROUBLE_SECONDS - 1)
    running.begin(successor)
    running.settle()
    assert "deletionTimestamp" in running.driver()["metadata"]


def test_a_start_without_trouble_may_take_minutes(running: OperatorSim) -> None:
    """As where a large image is pulled, and then a large state is restored."""
    successor = _try_edit(running)
    running.hold_back(successor, "ContainerCreating")
    _pass(running, START_SECONDS - 10)
    _assert_untouched(running)
    assert running.says("Accepted") == ("True", "Accepted")


def test_a_volume_that_is_not_mounted_is_named_within_ten_seconds(sim: OperatorSim) -> None:
    """A pod says no more than that its container is being created; why, only an event says."""
    sim.apply(join())
    sim.settle()
    pod = sim.driver()["metadata"]
    sim.hold_back(pod["name"], "ContainerCreating")
    event = {
        "metadata": {"name": "mount"},
        "involvedObject": {"kind": "Pod", "namespace": sim.namespace, "name": pod["name"], "uid": pod["uid"]},
        "type": "Warning",
        "reason": "FailedMount",
        "message": 'configmap "shop-code" not found',
    }
    sim.server.ask("POST", f"/api/v1/namespaces/{sim.namespace}/events", event)
    outcome = sim.settle()
    assert isinstance(outcome, RequeueAfter)
    assert outcome.seconds <= MOUNT_SECONDS
    _pass(sim, 10)
    for aspect, status in {"Ready": "False", "Degraded": "True"}.items():
        assert sim.says(aspect) == (status, "DriverPending")
        assert 'FailedMount: configmap "shop-code" not found' in sim.condition(aspect)["message"]
    sim.begin()
    sim.settle()
    assert "FailedMount" not in sim.condition("Ready")["message"]
    assert sim.says("Degraded")[0] == "False"


def test_a_volume_that_is_not_mounted_ends_nobody(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.hold_back(successor, "ContainerCreating")
    _pass(running, START_SECONDS + 1)
    _assert_refused(running, "ContainerCreating", "its volumes are not mounted")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"driver": {"template": {"spec": {"nodeSelector": {"disk": "none"}}}}}, NO_NODE),
        ({"driver": LARGER}, NO_ROOM),
        ({"image": "registry.example/runtime:2"}, NO_NODE),
        ({"image": "registry.example/runtime:2"}, UNBOUND),
    ],
)
def test_a_driver_that_no_node_takes_ends_nobody(
    running: OperatorSim, edit: dict[str, Any], message: str
) -> None:
    successor = _try_edit(running, **edit)
    running.leave_unscheduled(successor, message)
    _pass(running, UNSCHEDULABLE_SECONDS - 1)
    _assert_untouched(running)
    _pass(running, 2)
    _assert_refused(running, "Unschedulable", message)


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CreateContainerConfigError"])
def test_an_executor_whose_container_cannot_start_ends_nobody(running: OperatorSim, reason: str) -> None:
    successor = _try_edit(running)
    executor = running.executor(1, driver=successor)
    running.hold_back(executor, reason)
    running.begin(successor)  # which says that it is ready without them
    _pass(running, TROUBLE_SECONDS - 1)
    _assert_untouched(running)
    _pass(running, 2)
    _assert_refused(running, reason, executor)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"executor": {"template": {"spec": {"nodeSelector": {"disk": "none"}}}}}, NO_NODE),
        ({"executor": LARGER}, NO_ROOM),
        ({"image": "registry.example/runtime:2"}, UNBOUND),
    ],
)
def test_an_executor_that_no_node_takes_ends_nobody(
    running: OperatorSim, edit: dict[str, Any], message: str
) -> None:
    successor = _try_edit(running, **edit)
    executor = running.executor(1, driver=successor)
    running.leave_unscheduled(executor, message)
    running.begin(successor)
    _pass(running, UNSCHEDULABLE_SECONDS + 1)
    _assert_refused(running, "Unschedulable", executor, message)


def test_executors_that_never_register_end_nobody(running: OperatorSim) -> None:
    successor = _try_edit(running)
    executor = running.executor(1, driver=successor)
    running.end(executor, code=1, message="no Python")
    running.begin(successor)
    running.unready(successor)
    _pass(running, START_SECONDS - 1)
    _assert_untouched(running)
    _pass(running, 2)
    _assert_refused(running, "ExecutorsMissing", executor, "no Python")


def test_a_driver_that_refuses_the_app_before_it_is_ready_ends_nobody(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.begin(successor)
    ending = {"outcome": "config", "reason": "InvalidSpec", "path": "spec.operators[0]", "message": "no x"}
    running.end(successor, code=1, message=json.dumps(ending))
    running.settle()
    _assert_refused(running, "InvalidSpec", "spec.operators[0]: no x")


@pytest.mark.parametrize("code", [2, 3, 134, 137])
def test_drivers_that_crash_before_they_are_ready_end_nobody(running: OperatorSim, code: int) -> None:
    """As of an image with another Java, without Python, or of an app whose code ends the process."""
    _try_edit(running)
    for _ in range(MOST_FAILED_STARTS):
        _assert_untouched(running)
        assert running.says("Accepted") == ("True", "Accepted")
        (successor,) = running.successors()
        name = successor["metadata"]["name"]
        running.begin(name)
        running.end(name, code=code, message="Killed")
        running.settle(warms_up=False)
        _pass(running, 60)
    _assert_refused(running, "DriverFailed", name, f"exit code {code}: Killed")


def test_a_successor_that_kubernetes_takes_away_says_nothing_of_the_edit(running: OperatorSim) -> None:
    for number in range(2, 2 + 2 * MOST_FAILED_STARTS):
        successor = _try_edit(running) if number == 2 else running.successors()[0]["metadata"]["name"]
        assert successor == f"app-driver-{number}"
        running.begin(successor)
        running.end(successor, code=137, reason="Evicted")
        running.settle(warms_up=False)
    _assert_untouched(running)
    assert running.says("Accepted") == ("True", "Accepted")


def _refusing(message: str, pods: str) -> Callable[[Object], None]:
    """An API server that refuses such pods, be they real or for a trial."""

    def admit(made: Object) -> None:
        if made.get("kind") == "Pod" and re.search(pods, made["metadata"]["name"]):
            raise Refused(403, "Forbidden", f'pods "{made["metadata"]["name"]}" is forbidden: {message}')

    return admit


def _api(sim: OperatorSim) -> MemoryApi:
    assert isinstance(sim.server, MemoryApi)
    return sim.server


QUOTA = (
    "exceeded quota: few, requested: requests.memory=64Gi, used: requests.memory=4Gi, "
    "limited: requests.memory=65Gi"
)
USED_UP = "exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3"
LIMIT_RANGE = "maximum memory usage per Container is 8Gi, but limit is 64Gi"


@pytest.mark.parametrize("role", ["driver", "executor"])
def test_a_pod_that_a_limit_range_forbids_is_refused_before_anything_is_made(
    running: OperatorSim, role: str
) -> None:
    _api(running).admit = _refusing(LIMIT_RANGE, f"app-{role}-0")
    running.edit(**{role: LARGER})
    running.settle()
    _assert_refused(running, "PodsRefused", f"spec.{role}", LIMIT_RANGE)


def test_a_driver_that_needs_more_than_a_quota_has_left_ends_nobody(running: OperatorSim) -> None:
    _api(running).admit = _refusing(QUOTA, "app-driver-2")
    running.edit(driver=LARGER)
    running.settle()
    _assert_refused(running, "Forbidden", QUOTA)


def test_a_driver_that_a_policy_forbids_ends_nobody(running: OperatorSim) -> None:
    policy = "admission webhook policy.example denied the request: no such image"
    _api(running).admit = _refusing(policy, "app-driver-2")
    running.edit(image="registry.example/runtime:2")
    running.settle()
    _assert_refused(running, "Forbidden", policy)


def test_an_edit_is_tried_again_once_what_it_names_has_changed(sim: OperatorSim) -> None:
    sim = _brought_up(sim)
    path = f"/api/v1/namespaces/{sim.namespace}/secrets"
    source = {"secretKeyRef": {"name": "token", "key": "token"}}
    successor = _try_edit(sim, env=[{"name": "TOKEN", "valueFrom": source}])
    sim.hold_back(successor, "CreateContainerConfigError", 'secret "token" not found')
    _pass(sim, TROUBLE_SECONDS + 1)
    _assert_refused(sim, "CreateContainerConfigError", 'secret "token" not found')
    sim.server.ask("POST", path, {"metadata": {"name": "token"}, "data": {}})
    sim.pass_time(CONFIGURATION_SECONDS)
    sim.settle(warms_up=False)
    assert sim.says("Accepted") == ("True", "Accepted")
    (pod,) = sim.successors()
    sim.hold_back(pod["metadata"]["name"], "CreateContainerConfigError", "couldn't find key token")
    _pass(sim, TROUBLE_SECONDS + 1)
    _assert_refused(sim, "CreateContainerConfigError", "couldn't find key token")


def test_an_edit_is_tried_again_once_its_pull_secret_is_there(sim: OperatorSim) -> None:
    sim = _brought_up(sim)
    successor = _try_edit(sim, image="registry.example/private:1", imagePullSecrets=[{"name": "pull"}])
    sim.hold_back(successor, "ImagePullBackOff", "unauthorized")
    _pass(sim, TROUBLE_SECONDS + 1)
    _assert_refused(sim, "ImagePullBackOff", "unauthorized")
    path = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", path, {"metadata": {"name": "pull"}, "data": {}})
    sim.pass_time(CONFIGURATION_SECONDS)
    sim.settle()
    _replaced(sim)
    sim.begin()
    sim.report()
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Ready") == ("True", "Running")
    sim.server.ask("DELETE", f"{path}/pull")
    sim.pass_time(CONFIGURATION_SECONDS)
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted"), "it has run, and nothing refuses it any more"


def test_the_next_edit_is_tried_by_itself(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.hold_back(successor, "ImagePullBackOff")
    _pass(running, TROUBLE_SECONDS + 1)
    _end_leaving(running)
    running.edit(image="registry.example/runtime:3")
    running.settle()
    assert "deletionTimestamp" in running.driver()["metadata"]
    assert running.says("Accepted") == ("True", "Accepted")


def test_an_operator_that_begins_meanwhile_knows_what_was_refused(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.hold_back(successor, "ImagePullBackOff")
    running.restart()
    _pass(running, TROUBLE_SECONDS + 1)
    running.restart()
    running.settle(warms_up=False)
    _assert_refused(running, "ImagePullBackOff")


def test_a_restart_for_another_secret_that_cannot_start_ends_nobody_and_goes_on(
    sim: OperatorSim,
) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/secrets"
    sim.server.ask("POST", path, {"metadata": {"name": "token"}, "data": {"token": "a"}})
    source = {"secretKeyRef": {"name": "token", "key": "token"}}
    _brought_up(sim, env=[{"name": "TOKEN", "valueFrom": source}], onConfigurationChange="restart")
    sim.server.ask("PATCH", f"{path}/token", {"data": {"token": None}}, "application/merge-patch+json")
    sim.pass_time(CONFIGURATION_SECONDS)
    sim.settle(warms_up=False)
    (successor,) = sim.successors()
    name = successor["metadata"]["name"]
    sim.hold_back(name, "CreateContainerConfigError", "couldn't find key token")
    _pass(sim, START_SECONDS)
    _assert_untouched(sim)
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Degraded") == ("True", "StandbyMissing")
    assert "couldn't find key token" in sim.condition("Degraded")["message"]
    sim.begin(name)
    sim.settle()
    assert "deletionTimestamp" in sim.driver()["metadata"]


@pytest.mark.parametrize("message", [QUOTA, "admission webhook policy.example denied the request"])
def test_executors_that_the_api_server_refuses_end_nobody(running: OperatorSim, message: str) -> None:
    successor = _try_edit(running, executor=LARGER)
    _api(running).admit = _refusing(message, "app-executor-0")
    running.begin(successor)
    running.unready(successor)
    _pass(running, TROUBLE_SECONDS - 1)
    _assert_untouched(running)
    assert message in running.condition("Progressing")["message"]
    _pass(running, 10)
    _assert_refused(running, "Forbidden", "the pod of an executor", message)


# Where the two cannot stand side by side.


def _replaced(sim: OperatorSim) -> str:
    """The driver has ended for the edit; the pod of the one that takes over."""
    assert "deletionTimestamp" in sim.driver()["metadata"]
    _end_leaving(sim)
    _end_leaving(sim)
    return str(sim.driver()["metadata"]["name"])


def _assert_taken_back(sim: OperatorSim, reason: str, *words: str) -> None:
    """The generation before the edit runs again, and the edit is refused for this."""
    sim.settle(warms_up=False)
    _end_leaving(sim)
    _end_leaving(sim)
    assert sim.says("Accepted") == ("False", reason)
    message = sim.condition("Accepted")["message"]
    for word in words:
        assert word in message
    assert sim.driver()["metadata"]["labels"]["streamapp.dev/generation"] == "1"
    sim.begin()
    sim.report()
    sim.settle(warms_up=False)
    assert sim.says("Ready") == ("True", "Running")
    assert sim.says("Accepted") == ("False", reason)


def test_a_driver_whose_room_the_next_one_needs_ends_for_it(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.leave_unscheduled(successor, NO_ROOM)
    _pass(running, UNSCHEDULABLE_SECONDS - 1)
    _assert_untouched(running)
    _pass(running, 2)
    assert _replaced(running) == successor


def test_an_edit_that_ended_the_driver_for_room_and_cannot_start_is_taken_back(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.leave_unscheduled(successor, NO_ROOM)
    _pass(running, UNSCHEDULABLE_SECONDS + 1)
    assert _replaced(running) == successor
    running.hold_back(successor, "ImagePullBackOff", "no such image")
    _pass(running, TROUBLE_SECONDS + 1)
    _assert_taken_back(running, "ImagePullBackOff", "no such image")


def test_a_quota_that_has_room_for_one_driver_ends_it_for_the_next(running: OperatorSim) -> None:
    _api(running).admit = _refusing(USED_UP, "app-driver-2")
    running.edit(image="registry.example/runtime:2")
    running.settle(warms_up=False)
    driver = _replaced(running)
    running.hold_back(driver, "ImagePullBackOff", "no such image")
    _pass(running, TROUBLE_SECONDS + 1)
    _assert_taken_back(running, "ImagePullBackOff", "no such image")


def test_a_quota_that_has_room_for_one_set_of_executors_ends_them_for_the_next(running: OperatorSim) -> None:
    successor = _try_edit(running)
    _api(running).admit = _refusing(USED_UP, "app-executor-0")
    running.begin(successor)
    running.unready(successor)
    _pass(running, TROUBLE_SECONDS - 1)
    _assert_untouched(running)
    _pass(running, 10)
    assert _replaced(running) == successor


def test_a_claim_of_both_drivers_is_the_next_ones_after_a_while(sim: OperatorSim) -> None:
    volume = {"name": "models", "persistentVolumeClaim": {"claimName": "models"}}
    template = {"spec": {"volumes": [volume]}}
    sim = _brought_up(sim, driver={"template": template})
    successor = _try_edit(sim)
    sim.hold_back(successor, "ContainerCreating")
    _pass(sim, UNSCHEDULABLE_SECONDS - 1)
    _assert_untouched(sim)
    _pass(sim, 2)
    assert _replaced(sim) == successor


def test_executors_with_claims_that_cannot_start_take_the_edit_back(sim: OperatorSim) -> None:
    """Their claims are mounted by one set of executors at a time, so that there is no trial of them."""
    sim = _brought_up(sim, state={"persistentVolumeClaim": {"size": "1Gi"}})
    successor = _try_edit(sim, executor={"template": {"spec": {"nodeSelector": {"disk": "none"}}}})
    sim.begin(successor)
    sim.settle(warms_up=False)
    assert _replaced(sim) == successor
    sim.report(DriverState.WAITING)
    executor = sim.executor(1, driver=successor)
    sim.leave_unscheduled(executor, NO_NODE)
    _pass(sim, UNSCHEDULABLE_SECONDS - 1)
    assert sim.says("Accepted") == ("True", "Accepted")
    _pass(sim, 2)
    _assert_taken_back(sim, "Unschedulable", NO_NODE)


def test_an_embedded_log_is_given_back_where_the_next_driver_cannot_start(sim: OperatorSim) -> None:
    systems = [{"name": "main", "embedded": {"path": "./data"}}]
    claim = {"persistentVolumeClaim": {"size": "1Gi"}}
    sim.bring_up(join(systems=systems, processors=1, state=claim))
    sim.pass_time(600)
    sim.edit(image="registry.example/runtime:2")
    sim.settle()
    driver = _replaced(sim)
    sim.hold_back(driver, "ImagePullBackOff", "no such image")
    _pass(sim, TROUBLE_SECONDS + 1)
    _assert_taken_back(sim, "ImagePullBackOff", "no such image")


def test_drivers_that_crash_in_the_place_of_the_last_one_take_the_edit_back(running: OperatorSim) -> None:
    successor = _try_edit(running)
    running.leave_unscheduled(successor, NO_ROOM)
    _pass(running, UNSCHEDULABLE_SECONDS + 1)
    _replaced(running)
    for _ in range(MOST_FAILED_STARTS):
        running.begin()
        running.end(code=3, message="no room on the disk")
        running.settle(warms_up=False)
        _pass(running, 60)
    _assert_taken_back(running, "DriverFailed", "no room on the disk")


def test_a_driver_that_does_no_work_ends_for_a_successor_that_cannot_start(running: OperatorSim) -> None:
    """The edit may be what it needs, and nothing is lost by that."""
    running.report(DriverState.WAITING)
    successor = _try_edit(running)
    running.hold_back(successor, "ErrImagePull", "no such image")
    running.settle(warms_up=False)
    assert _replaced(running) == successor
    _pass(running, TROUBLE_SECONDS + 1)
    _assert_taken_back(running, "ErrImagePull", "no such image")


def test_a_first_generation_that_cannot_start_is_not_refused(sim: OperatorSim) -> None:
    """There is nothing to go back to, and its image may yet come."""
    sim.apply(join())
    sim.settle()
    sim.hold_back("app-driver-1", "ImagePullBackOff", "no such image")
    _pass(sim, START_SECONDS)
    assert sim.says("Accepted") == ("True", "Accepted")
    assert sim.says("Ready") == ("False", "DriverPending")
    assert "no such image" in sim.condition("Degraded")["message"]

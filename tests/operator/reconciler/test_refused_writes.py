"""What the API server will not take, and what is in the way."""

from typing import Any

import pytest

from streamapp_operator.reconciler.config_maps.accepted_generation import RAN_ANNOTATION, annotate_generation
from streamapp_operator.reconciler.objects.object_names import executor_set
from streamapp_operator.reconciler.writes.reconcile_decision import Apply
from streamapp_operator.reconciler.writes.write_execution import execute_writes
from tests.harness.machine.processes import until
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join


def _quota(sim: OperatorSim, pods: int, used: int) -> None:
    """A quota as the cluster's controller keeps it."""
    path = f"/api/v1/namespaces/{sim.namespace}/resourcequotas"
    body = {"metadata": {"name": "few"}, "spec": {"hard": {"pods": str(pods)}}}
    sim.server.ask("POST", path, body)
    status = {"hard": {"pods": str(pods)}, "used": {"pods": str(used)}}
    sim.server.ask("PATCH", f"{path}/few/status", {"status": status}, "application/merge-patch+json")
    until(lambda: _takes_no_pod(sim), 20)


def _takes_no_pod(sim: OperatorSim) -> bool:
    """Whether the API server has seen the quota, which it keeps in a cache."""
    pod = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "main", "image": "none"}]}}
    code, _ = sim.server.call("POST", f"/api/v1/namespaces/{sim.namespace}/pods?dryRun=All", pod)
    return code == 403


@ON_REAL_SERVER
def test_a_pod_that_the_api_server_refuses_is_told_and_tried_again_ever_more_seldom(sim: OperatorSim) -> None:
    _quota(sim, pods=1, used=1)
    sim.apply(join(restartPolicy={"backoff": "20s"}))
    sim.reconcile()
    assert sim.says("Accepted")[0] == "True", "the pod will be there that the quota is used for now"
    assert sim.says("Launched") == ("False", "LaunchRejected")
    assert "exceeded quota: few" in sim.condition("Degraded")["message"]
    waits = []
    for _ in range(3):
        outcome = sim.settle()
        waits.append(outcome.seconds)
        sim.pass_time(outcome.seconds)
        sim.reconcile()
    assert waits == [20, 40, 80]
    assert sim.names("pods") == []


def test_an_object_of_somebody_else_is_left_alone_and_named(sim: OperatorSim) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/configmaps"
    sim.server.ask("POST", path, {"metadata": {"name": "app-report"}, "data": {"mine": "1"}})
    sim.apply(join())
    sim.reconcile()
    assert sim.says("Launched") == ("False", "NameTaken")
    assert "ConfigMap app-report" in sim.condition("Launched")["message"]
    assert sim.config_map("app-report")["data"] == {"mine": "1"}
    sim.server.ask("DELETE", f"{path}/app-report")
    sim.settle()
    assert len(sim.drivers()) == 1


RBAC = "apis/rbac.authorization.k8s.io/v1"
BINDING = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}}


@ON_REAL_SERVER
@pytest.mark.parametrize(
    ("kind", "group", "plural", "name", "body"),
    [
        ("ServiceAccount", "api/v1", "serviceaccounts", "app-driver", {}),
        ("ServiceAccount", "api/v1", "serviceaccounts", "app-executor", {}),
        ("Service", "api/v1", "services", "app-driver", {"spec": {"ports": [{"port": 80}]}}),
        ("Role", RBAC, "roles", "app-driver", {"rules": []}),
        ("RoleBinding", RBAC, "rolebindings", "app-driver", BINDING),
        ("ConfigMap", "api/v1", "configmaps", "app-job-model", {"data": {"mine": "1"}}),
    ],
)
def test_an_object_of_another_team_is_never_taken_over(
    sim: OperatorSim, kind: str, group: str, plural: str, name: str, body: dict[str, Any]
) -> None:
    path = f"/{group}/namespaces/{sim.namespace}/{plural}"
    metadata = {"name": name, "labels": {"streamapp.dev/app": "app"}}
    before = sim.server.ask("POST", path, {"metadata": metadata, **body})
    sim.apply(join())
    sim.reconcile()
    assert sim.says("Launched") == ("False", "NameTaken")
    assert f"{kind} {name}" in sim.condition("Launched")["message"]
    assert sim.server.ask("GET", f"{path}/{name}") == before
    assert sim.drivers() == []
    sim.server.ask("DELETE", f"{path}/{name}")
    sim.settle()
    assert len(sim.drivers()) == 1


@ON_REAL_SERVER
@pytest.mark.parametrize("is_labelled", [False, True])
def test_the_claim_of_a_log_is_taken_up_by_its_label_alone(sim: OperatorSim, is_labelled: bool) -> None:
    path = f"/api/v1/namespaces/{sim.namespace}/persistentvolumeclaims"
    claim = _claim("app-state")
    if not is_labelled:
        claim["metadata"] = {"name": "app-state"}
    sim.server.ask("POST", path, claim)
    systems = [{"name": "main", "embedded": {"path": "./data"}}]
    state = {"persistentVolumeClaim": {"size": "1Gi"}}
    sim.apply(join(systems=systems, processors=1, state=state))
    if is_labelled:
        sim.settle()
        assert len(sim.drivers()) == 1
    else:
        sim.reconcile()
        assert sim.says("Launched") == ("False", "NameTaken")


def test_an_embedded_log_is_run_by_a_driver_that_plans_for_itself(sim: OperatorSim) -> None:
    systems = [{"name": "main", "embedded": {"path": "./data"}}]
    claim = {"persistentVolumeClaim": {"size": "1Gi"}}
    sim.apply(join(systems=systems, processors=1, state=claim))
    sim.settle()
    assert sim.says("Planned") == ("True", "PlannedByDriver")
    assert sim.names("persistentvolumeclaims") == ["app-state"]
    assert sim.wanted().model is None
    sim.begin()
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")


def test_an_app_that_its_driver_plans_is_warned_as_one_that_the_operator_plans(sim: OperatorSim) -> None:
    app = join(systems=[{"name": "main", "embedded": {"path": "./data"}}], processors=1)
    app["spec"]["streams"].append({"name": "idle", "system": "main", "columns": "a STRING"})
    sim.apply(app)
    sim.settle()
    assert sim.says("Planned") == ("True", "PlannedByDriver")
    assert 'nothing reads or writes the stream "idle"' in sim.condition("Planned")["message"]


def test_a_note_on_a_generation_that_is_gone_makes_no_object_without_an_owner(sim: OperatorSim) -> None:
    sim.apply(join())
    app = sim.app()
    note = Apply(annotate_generation(app, 7, **{RAN_ANNOTATION: "true"}), must_exist=True)
    assert sim.run(execute_writes(sim.cluster, app, [note])) is None
    assert sim.names("configmaps") == []


def _claim(name: str) -> dict[str, object]:
    return {
        "metadata": {"name": name, "labels": {"streamapp.dev/app": "app"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


@ON_REAL_SERVER
def test_claims_end_with_their_app_only_if_it_says_so(sim: OperatorSim) -> None:
    claim = {"persistentVolumeClaim": {"size": "1Gi"}}
    sim.apply(join(state=claim))
    sim.settle()
    path = f"/api/v1/namespaces/{sim.namespace}/persistentvolumeclaims"
    claim_name = f"state-{executor_set(sim.app()['metadata']['uid'])}-0"
    foreign_names = ("state-0", f"state-{executor_set('another')}-0")
    for name in (claim_name, *foreign_names):
        sim.server.ask("POST", path, _claim(name))
    sim.begin()
    sim.report()
    sim.settle()
    assert "ownerReferences" not in sim.server.ask("GET", f"{path}/{claim_name}")["metadata"]
    sim.edit(state={**claim, "reclaimPolicy": "Delete"})
    sim.settle()
    (owner,) = sim.server.ask("GET", f"{path}/{claim_name}")["metadata"]["ownerReferences"]
    assert owner["uid"] == sim.app()["metadata"]["uid"]
    for name in foreign_names:
        assert "ownerReferences" not in sim.server.ask("GET", f"{path}/{name}")["metadata"]
    sim.edit(state={**claim, "reclaimPolicy": "Retain"})
    sim.settle()
    assert "ownerReferences" not in sim.server.ask("GET", f"{path}/{claim_name}")["metadata"]

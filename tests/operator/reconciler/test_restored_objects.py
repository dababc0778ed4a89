"""What somebody deletes or damages while a driver runs is put right, or a condition names it."""

from typing import Any

import pytest

from streamapp.protocol import message_names
from tests.harness.core.all_cases import all_cases
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

RBAC = "apis/rbac.authorization.k8s.io/v1"
MERGE = "application/merge-patch+json"
OBJECTS = [
    ("api/v1", "services", "app-driver"),
    ("api/v1", "serviceaccounts", "app-driver"),
    ("api/v1", "serviceaccounts", "app-executor"),
    (RBAC, "roles", "app-driver"),
    (RBAC, "rolebindings", "app-driver"),
]
DAMAGES: list[tuple[str, str, dict[str, Any]]] = [
    ("api/v1", "services", {"spec": {"selector": {"a": "b"}}}),
    ("api/v1", "services", {"spec": {"ports": [{"name": "driver-rpc", "port": 7}]}}),
    ("api/v1", "services", {"spec": {"ports": [{"name": "more", "port": 7}]}}),
    ("api/v1", "services", {"metadata": {"labels": {"streamapp.dev/app": None}}}),
    ("api/v1", "serviceaccounts", {"automountServiceAccountToken": True}),
    (RBAC, "roles", {"rules": []}),
    (RBAC, "rolebindings", {"subjects": []}),
    (RBAC, "rolebindings", {"metadata": {"annotations": {"streamapp.dev/executor-limits": "image/x"}}}),
]


def _path(sim: OperatorSim, group: str, plural: str, name: str) -> str:
    return f"/{group}/namespaces/{sim.namespace}/{plural}/{name}"


def _content(found: dict[str, Any]) -> dict[str, Any]:
    """An object without what the API server writes into it."""
    names = ("name", "labels", "annotations", "ownerReferences")
    metadata = {name: found["metadata"].get(name) for name in names}
    return {**found, "metadata": metadata}


@ON_BOTH_SERVERS
def test_an_object_that_is_deleted_while_the_driver_runs_is_there_again(sim: OperatorSim) -> None:
    sim.bring_up(join())
    with all_cases() as case:
        for group, plural, name in OBJECTS:
            with case(f"{plural} {name}"):
                path = _path(sim, group, plural, name)
                before = _content(sim.server.ask("GET", path))
                sim.server.ask("DELETE", path)
                sim.settle()
                assert _content(sim.server.ask("GET", path)) == before
                assert sim.says("Ready") == ("True", "Running")
                assert sim.says("Degraded") == ("False", "Healthy")


@ON_REAL_SERVER
def test_an_object_that_is_damaged_while_the_driver_runs_is_as_it_was(sim: OperatorSim) -> None:
    sim.bring_up(join())
    with all_cases() as case:
        for group, plural, damage in DAMAGES:
            with case(f"{plural} {damage}"):
                path = _path(sim, group, plural, "app-driver")
                before = _content(sim.server.ask("GET", path))
                sim.server.ask("PATCH", path, damage, MERGE)
                sim.settle()
                assert _content(sim.server.ask("GET", path)) == before


@ON_BOTH_SERVERS
def test_nothing_is_written_while_all_objects_are_as_they_should_be(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.calls.clear()
    sim.reconcile()
    assert {verb for verb, _ in sim.calls} <= {"list"}  # the harness fills its cache


@ON_BOTH_SERVERS
def test_a_deleted_job_model_is_published_anew_with_the_same_owners_under_a_later_version(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join())
    before = sim.model()
    sim.server.ask("DELETE", _path(sim, "api/v1", "configmaps", "app-job-model"))
    sim.settle()
    after = sim.model()
    assert (after.tasks, after.assignment(), after.run_id) == (
        before.tasks,
        before.assignment(),
        before.run_id,
    )
    assert after.version > before.version
    assert sim.says("Ready") == ("True", "Running")  # by the model before
    assert sim.says("Progressing") == ("True", "ModelChanged")
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert incarnation_in(sim.driver()) == 1


@ON_BOTH_SERVERS
def test_a_job_model_that_cannot_be_read_is_published_anew(sim: OperatorSim) -> None:
    sim.bring_up(join())
    path = _path(sim, "api/v1", "configmaps", "app-job-model")
    sim.server.ask("PATCH", path, {"data": {message_names.WANTED: "{}"}}, MERGE)
    sim.settle()
    assert sim.wanted().model is not None
    assert incarnation_in(sim.driver()) == 1


@ON_BOTH_SERVERS
def test_a_job_model_that_is_deleted_before_the_driver_has_read_it_is_there_again(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    sim.server.ask("DELETE", _path(sim, "api/v1", "configmaps", "app-job-model"))
    sim.settle()
    assert sim.wanted().model is not None


@ON_BOTH_SERVERS
def test_without_model_and_report_the_next_model_waits_for_what_the_driver_says(sim: OperatorSim) -> None:
    sim.bring_up(join())
    before = sim.model()
    report = sim.config_map("app-report")["data"]
    for name in ("app-job-model", "app-report"):
        sim.server.ask("DELETE", _path(sim, "api/v1", "configmaps", name))
    sim.settle()
    assert "app-job-model" not in sim.names("configmaps")
    path = _path(sim, "api/v1", "configmaps", "app-report")
    sim.server.ask("PATCH", path, {"data": report}, MERGE)
    sim.settle()
    assert sim.model().run_id == before.run_id
    assert sim.model().version > before.version


@ON_BOTH_SERVERS
def test_a_deleted_report_is_there_again_for_the_driver_to_write_to(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.server.ask("DELETE", _path(sim, "api/v1", "configmaps", "app-report"))
    sim.settle()
    (owner,) = sim.config_map("app-report")["metadata"]["ownerReferences"]
    assert owner["uid"] == sim.app()["metadata"]["uid"]
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")


@ON_BOTH_SERVERS
def test_a_report_without_its_label_is_read_again(sim: OperatorSim) -> None:
    sim.bring_up(join())
    path = _path(sim, "api/v1", "configmaps", "app-report")
    sim.server.ask("PATCH", path, {"metadata": {"labels": {"streamapp.dev/app": None}}}, MERGE)
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")


@ON_BOTH_SERVERS
@pytest.mark.parametrize(
    ("group", "plural", "name", "kind"),
    [
        ("api/v1", "services", "app-driver", "Service"),
        ("api/v1", "configmaps", "app-job-model", "ConfigMap"),
        (RBAC, "roles", "app-driver", "Role"),
    ],
)
def test_a_condition_names_an_object_that_somebody_else_has_taken_while_the_app_runs_on(
    sim: OperatorSim, group: str, plural: str, name: str, kind: str
) -> None:
    sim.bring_up(join())
    path = _path(sim, group, plural, name)
    sim.server.ask("PATCH", path, {"metadata": {"ownerReferences": None}}, MERGE)
    taken = sim.server.ask("GET", path)
    outcome = sim.settle()
    assert sim.server.ask("GET", path) == taken
    assert sim.says("Launched") == ("True", "Launched")
    assert sim.says("Degraded") == ("True", "NameTaken")
    assert f"{kind} {name} belongs to another owner" in sim.condition("Degraded")["message"]
    assert any(reason == "NameTaken" for _, reason, _ in sim.events())
    assert outcome.seconds <= 30
    sim.server.ask("DELETE", path)
    sim.settle()
    sim.report()
    sim.settle()
    assert sim.says("Degraded") == ("False", "Healthy")


@ON_REAL_SERVER
def test_all_that_the_api_server_refuses_to_put_back_is_named(sim: OperatorSim) -> None:
    sim.bring_up(join())
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"services": "0"}}}
    path = f"/api/v1/namespaces/{sim.namespace}/resourcequotas"
    sim.server.ask("POST", path, quota)
    status = {"status": {"hard": {"services": "0"}, "used": {"services": "0"}}}
    sim.server.ask("PATCH", f"{path}/none/status", status, MERGE)
    sim.server.ask("DELETE", _path(sim, "api/v1", "services", "app-driver"))
    sim.server.ask("DELETE", _path(sim, RBAC, "roles", "app-driver"))
    sim.settle()
    assert sim.says("Degraded") == ("True", "NotRestored")
    assert "Service app-driver" in sim.condition("Degraded")["message"]
    assert "exceeded quota: none" in sim.condition("Degraded")["message"]
    assert sim.says("Ready") == ("True", "Running")
    assert "app-driver" in sim.names("roles", RBAC)


def test_a_driver_whose_account_was_made_anew_is_replaced_since_its_token_is_void() -> None:
    sim = OperatorSim.in_memory()
    sim.bring_up(join())
    sim.pass_time(60)
    sim.server.ask("DELETE", _path(sim, "api/v1", "serviceaccounts", "app-driver"))
    sim.reconcile()
    sim.reconcile()
    assert sim.says("Progressing") == ("True", "AccountReplaced")
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    sim.begin()
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")
    assert incarnation_in(sim.driver()) == 2
    sim.close()


@ON_REAL_SERVER
@pytest.mark.parametrize("data", [{"metadata": "AAAA"}, {"metadata": ""}, {"other": "AAAA"}])
def test_a_locality_config_map_that_cannot_be_read_is_empty_locality_and_an_event(
    sim: OperatorSim, data: dict[str, str]
) -> None:
    sim.bring_up(join())
    sim.server.call("DELETE", _path(sim, "api/v1", "configmaps", "app-locality"))
    labels = {"streamapp.dev/app": "app", "streamapp.dev/role": "locality"}
    owners = sim.config_map("app-report")["metadata"]["ownerReferences"]
    metadata = {"name": "app-locality", "labels": labels, "ownerReferences": owners}
    sim.server.ask("POST", _path(sim, "api/v1", "configmaps", ""), {"metadata": metadata, "binaryData": data})
    sim.restart()
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.says("Accepted") == ("True", "Accepted")
    events = [message for kind, reason, message in sim.events() if reason == "LocalityUnreadable"]
    assert len(events) == (data.get("metadata") == "AAAA")
    sim.begin()
    sim.executor(1)
    sim.executor(2)
    sim.report()
    sim.settle()
    assert sim.says("Ready") == ("True", "Running")

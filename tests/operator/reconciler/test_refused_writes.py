"""What the API server will not take, and what is in the way."""

from tests.harness.operator.reconcile_stage import Stage
from tests.harness.operator.small_apps import join


def _unfit() -> dict[str, object]:
    """The template is the resource's to say; that a label is none, only the API server sees."""
    return {"template": {"spec": {"nodeSelector": {"disk": "not a label value!"}}}}


def test_a_pod_that_the_api_server_refuses_is_told_and_tried_again_ever_more_seldom(stage: Stage) -> None:
    stage.apply(join(driver=_unfit(), restartPolicy={"backoff": "20s"}))
    stage.reconcile()
    assert stage.says("Launched") == ("False", "LaunchRejected")
    assert "not a label value!" in stage.condition("Degraded")["message"]
    waits = []
    for _ in range(3):
        outcome = stage.settle()
        waits.append(outcome.seconds)
        stage.pass_time(outcome.seconds)
        stage.reconcile()
    assert waits == [20, 40, 80]
    assert stage.names("pods") == []


def test_a_pod_that_is_refused_is_made_once_the_app_is_put_right(stage: Stage) -> None:
    stage.apply(join(driver=_unfit()))
    stage.settle()
    stage.edit(driver={"template": None})
    stage.settle()
    assert len(stage.drivers()) == 1


def test_an_object_of_somebody_else_is_left_alone_and_named(stage: Stage) -> None:
    path = f"/api/v1/namespaces/{stage.namespace}/configmaps"
    stage.server.ask("POST", path, {"metadata": {"name": "app-report"}, "data": {"mine": "1"}})
    stage.apply(join())
    stage.reconcile()
    assert stage.says("Launched") == ("False", "NameTaken")
    assert "ConfigMap app-report" in stage.condition("Launched")["message"]
    assert stage.config_map("app-report")["data"] == {"mine": "1"}
    stage.server.ask("DELETE", f"{path}/app-report")
    stage.settle()
    assert len(stage.drivers()) == 1


def test_an_embedded_log_is_run_by_a_driver_that_plans_for_itself(stage: Stage) -> None:
    systems = [{"name": "main", "embedded": {"path": "./data"}}]
    claim = {"persistentVolumeClaim": {"size": "1Gi"}}
    stage.apply(join(systems=systems, processors=1, state=claim))
    stage.settle()
    assert stage.says("Planned") == ("True", "PlannedByDriver")
    assert stage.names("persistentvolumeclaims") == ["app-state"]
    assert stage.wanted().model is None
    stage.begin()
    stage.report()
    stage.settle()
    assert stage.says("Ready") == ("True", "Running")


def test_claims_end_with_their_app_only_if_it_says_so(stage: Stage) -> None:
    claim = {"persistentVolumeClaim": {"size": "1Gi"}}
    stage.apply(join(state=claim))
    stage.settle()
    path = f"/api/v1/namespaces/{stage.namespace}/persistentvolumeclaims"
    made = {
        "metadata": {"name": "state-0", "labels": {"streamapp.dev/app": "app"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    stage.server.ask("POST", path, made)
    stage.begin()
    stage.report()
    stage.settle()
    assert "ownerReferences" not in stage.server.ask("GET", f"{path}/state-0")["metadata"]
    stage.edit(state={**claim, "reclaimPolicy": "Delete"})
    stage.settle()
    (owner,) = stage.server.ask("GET", f"{path}/state-0")["metadata"]["ownerReferences"]
    assert owner["uid"] == stage.app()["metadata"]["uid"]
    stage.edit(state={**claim, "reclaimPolicy": "Retain"})
    stage.settle()
    assert "ownerReferences" not in stage.server.ask("GET", f"{path}/state-0")["metadata"]

"""An app whose reconciliation is paused by its annotation: nothing of it is changed."""

from typing import Any

from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

PAUSED = ("True", "ReconciliationPaused")


def annotate(sim: OperatorSim, value: str | None) -> None:
    path = f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app"
    metadata = {"metadata": {"annotations": {PAUSE_ANNOTATION: value}}}
    sim.server.ask("PATCH", path, metadata, "application/merge-patch+json")


def without_the_app(sim: OperatorSim) -> dict[str, str]:
    return {name: version for name, version in sim.versions().items() if not name.startswith("streamapps/")}


@ON_BOTH_SERVERS
def test_a_running_driver_is_left_as_it_is_and_edits_wait(sim: OperatorSim) -> None:
    sim.bring_up(join())
    annotate(sim, "true")
    sim.settle()
    before = without_the_app(sim)
    sim.edit(restartNonce=1, processors=4)
    sim.settle()
    assert without_the_app(sim) == before
    assert sim.says("ReconciliationPaused") == PAUSED
    assert sim.says("Ready") == ("True", "Running")
    assert sim.status()["observedGeneration"] == 1
    assert sim.status()["reason"] == "ReconciliationPaused"
    assert [event for event in sim.events() if event[1] == "ReconciliationPaused"]


@ON_BOTH_SERVERS
def test_a_driver_that_ends_is_not_followed_by_another_until_the_pause_is_over(sim: OperatorSim) -> None:
    sim.bring_up(join())
    annotate(sim, "true")
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert sim.drivers() == []
    annotate(sim, None)
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.says("ReconciliationPaused") == ("False", "NotPaused")


@ON_BOTH_SERVERS
def test_what_somebody_deletes_is_put_back_after_the_pause(sim: OperatorSim) -> None:
    sim.bring_up(join())
    annotate(sim, "true")
    sim.settle()
    sim.server.ask("DELETE", f"/api/v1/namespaces/{sim.namespace}/services/app-driver")
    sim.settle()
    assert "app-driver" not in sim.names("services")
    annotate(sim, "false")
    sim.settle()
    assert "app-driver" in sim.names("services")


@ON_BOTH_SERVERS
def test_an_app_that_is_paused_from_the_start_is_neither_looked_up_nor_started(sim: OperatorSim) -> None:
    app: dict[str, Any] = join()
    app["metadata"]["annotations"] = {PAUSE_ANNOTATION: "true"}
    sim.apply(app)
    sim.settle()
    assert sim.names("pods") == []
    assert [name for name in sim.names("configmaps") if name.startswith("app-")] == []
    assert sim.table.asked == 0
    assert [condition["type"] for condition in sim.status()["conditions"]] == ["ReconciliationPaused"]
    annotate(sim, None)
    sim.settle()
    assert incarnation_in(sim.driver()) == 1


@ON_BOTH_SERVERS
def test_a_paused_app_is_written_once_and_can_be_deleted(sim: OperatorSim) -> None:
    sim.bring_up(join())
    annotate(sim, "true")
    sim.settle()
    before = sim.versions()
    sim.pass_time(3600)
    sim.settle()
    assert sim.versions() == before
    sim.server.ask("DELETE", f"/apis/streamapp.dev/v1alpha1/namespaces/{sim.namespace}/streamapps/app")
    sim.reconcile()


@ON_BOTH_SERVERS
def test_an_annotation_that_says_anything_else_pauses_nothing(sim: OperatorSim) -> None:
    sim.bring_up(join())
    annotate(sim, "no")
    sim.edit(processors=4)
    sim.settle()
    assert len(sim.model().processors) == 4

"""A Secret or ConfigMap that an app names, changed while its driver runs."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Any

import pytest

from streamapp_operator.controller.client.resource_kinds import SECRET
from streamapp_operator.reconciler.objects.configuration_versions import (
    CONFIGURATION_ANNOTATION,
    CONFIGURATION_SECONDS,
)
from tests.harness.operator.operator_sim import ON_BOTH_SERVERS, ON_REAL_SERVER, OperatorSim
from tests.harness.operator.simulated_cluster import incarnation_in
from tests.harness.operator.small_apps import join

LATER = CONFIGURATION_SECONDS + 1
CURRENT, CHANGED = ("False", "UpToDate"), ("True", "ConfigurationChanged")
NAMING: dict[str, Any] = {
    "env": [{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "shop", "key": "token"}}}],
    "code": {"configMap": "shop-code"},
    "imagePullSecrets": [{"name": "pull"}],
}


def put(sim: OperatorSim, plural: str, name: str, value: str) -> None:
    kind = {"secrets": "Secret", "configmaps": "ConfigMap"}[plural]
    data = {"token": b64encode(value.encode()).decode() if kind == "Secret" else value}
    manifest = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data}
    path = f"/api/v1/namespaces/{sim.namespace}/{plural}/{name}?fieldManager=people&force=true"
    sim.server.ask("PATCH", path, manifest, "application/apply-patch+yaml")


def delete(sim: OperatorSim, plural: str, name: str) -> None:
    sim.server.ask("DELETE", f"/api/v1/namespaces/{sim.namespace}/{plural}/{name}")


@pytest.fixture(autouse=True)
def _objects(sim: OperatorSim) -> Iterator[None]:
    put(sim, "secrets", "shop", "first")
    put(sim, "secrets", "pull", "first")
    put(sim, "configmaps", "shop-code", "first")
    yield


def later(sim: OperatorSim) -> None:
    sim.pass_time(LATER)
    sim.settle()


@ON_BOTH_SERVERS
def test_a_secret_that_changes_is_told_and_the_driver_runs_on(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING))
    assert sim.says("ConfigurationOutdated") == CURRENT
    put(sim, "secrets", "shop", "second")
    later(sim)
    assert sim.says("ConfigurationOutdated") == CHANGED
    message = sim.condition("ConfigurationOutdated")["message"]
    assert message == "Secret shop: changed since app-driver-1 was started; a restart takes that up"
    assert [event for event in sim.events() if event[:2] == ("Normal", "ConfigurationChanged")]
    assert sim.says("Ready") == ("True", "Running")
    assert incarnation_in(sim.driver()) == 1


@ON_BOTH_SERVERS
def test_a_restart_takes_it_up(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING))
    put(sim, "configmaps", "shop-code", "second")
    later(sim)
    assert "ConfigMap shop-code" in sim.condition("ConfigurationOutdated")["message"]
    sim.edit(restartNonce=1)
    sim.settle()
    sim.remove("app-driver-1")
    sim.settle()
    assert incarnation_in(sim.driver()) == 2
    assert sim.says("ConfigurationOutdated") == CURRENT


def test_an_app_that_asks_for_it_is_restarted_once(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING, onConfigurationChange="restart"))
    put(sim, "secrets", "shop", "second")
    later(sim)
    assert sim.says("Progressing") == ("True", "ConfigurationChanged")
    assert "Secret shop" in sim.condition("Progressing")["message"]
    sim.remove("app-driver-1")
    sim.settle()
    sim.begin("app-driver-2")
    sim.report()
    sim.settle()
    later(sim)
    assert incarnation_in(sim.driver()) == 2
    assert sim.says("Ready") == ("True", "Running")
    assert sim.status()["driver"]["failures"] == 0


def test_the_policy_is_taken_up_without_a_restart(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING))
    sim.edit(onConfigurationChange="restart")
    sim.settle()
    assert incarnation_in(sim.driver()) == 1
    assert sim.says("Progressing")[1] in {"Stable", "SpecChanged"}


def test_nothing_is_restarted_for_what_is_deleted_since_the_next_driver_could_not_start(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join(**NAMING, onConfigurationChange="restart"))
    delete(sim, "secrets", "shop")
    later(sim)
    assert sim.says("ConfigurationOutdated") == CURRENT
    assert incarnation_in(sim.driver()) == 1


def test_what_comes_after_the_driver_was_made_held_its_pod_back_and_is_no_change(sim: OperatorSim) -> None:
    delete(sim, "secrets", "shop")
    sim.bring_up(join(**NAMING))
    put(sim, "secrets", "shop", "first")
    later(sim)
    assert sim.says("ConfigurationOutdated") == CURRENT


def test_a_secret_for_pulling_images_is_of_no_concern_to_a_pod_that_runs(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING))
    put(sim, "secrets", "pull", "second")
    later(sim)
    assert sim.says("ConfigurationOutdated") == CURRENT
    assert "pull" not in sim.driver()["metadata"]["annotations"][CONFIGURATION_ANNOTATION]


@ON_REAL_SERVER
def test_the_operator_asks_for_metadata_alone(sim: OperatorSim) -> None:
    manifest = sim.run(sim.cluster.read_metadata(SECRET, sim.namespace, "shop"))
    assert manifest is not None
    assert manifest["metadata"]["name"] == "shop"
    assert "data" not in manifest
    assert sim.run(sim.cluster.read_metadata(SECRET, sim.namespace, "nobody")) is None


def test_an_app_at_rest_is_looked_at_every_five_minutes_and_written_never(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING))
    outcome = sim.settle()
    assert getattr(outcome, "seconds", None) == CONFIGURATION_SECONDS
    before, calls = sim.versions(), len(sim.calls)
    sim.pass_time(10)
    sim.reconcile()
    assert sim.versions() == before
    assert [call for call in sim.calls[calls:] if call[0] == "get"] == []


def test_an_annotation_that_somebody_writes_over_changes_nothing(sim: OperatorSim) -> None:
    sim.bring_up(join(**NAMING, onConfigurationChange="restart"))
    for text in ("no json", "[]", "{}"):
        change = {"metadata": {"annotations": {CONFIGURATION_ANNOTATION: text}}}
        path = f"/api/v1/namespaces/{sim.namespace}/pods/app-driver-1"
        sim.server.ask("PATCH", path, change, "application/merge-patch+json")
        put(sim, "secrets", "shop", text)
        later(sim)
        assert incarnation_in(sim.driver()) == 1

"""An app that is deleted without its objects and applied again: nothing of what runs on is taken away."""

from typing import Any

import pytest

from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.cli.diagnosis.situations import SITUATIONS
from tests.harness.api_server.memory_api import MemoryApi
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

LEFT = [
    *("Service app-driver", "ServiceAccount app-driver", "ServiceAccount app-executor"),
    *("Role app-driver", "RoleBinding app-driver", "ConfigMap app-accepted-1", "ConfigMap app-job-model"),
    *("ConfigMap app-report", "Pod app-driver-1"),
]


@pytest.fixture
def orphaned(sim: OperatorSim) -> OperatorSim:
    """An app that ran, was deleted with `--cascade=orphan`, and is applied again."""
    sim.bring_up(join())
    for number in (1, 2):
        sim.executor(number, driver="app-driver-1")
    sim.settle()
    api = sim.server
    assert isinstance(api, MemoryApi)
    uid = sim.app()["metadata"]["uid"]
    api.ask("DELETE", "/apis/streamapp.dev/v1alpha1/namespaces/shop/streamapps/app")
    for path in list(api.objects):  # what the garbage collector does for an orphan
        _disown(api.objects[path], uid)
    sim.apply(join())
    sim.settle()
    return sim


def _disown(made: dict[str, Any], uid: str) -> None:
    owners = made["metadata"].get("ownerReferences") or ()
    made["metadata"]["ownerReferences"] = [owner for owner in owners if owner["uid"] != uid]


def _pods(sim: OperatorSim) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in sim.objects("pods")}


def test_nothing_of_the_driver_that_runs_is_taken_away(orphaned: OperatorSim) -> None:
    assert sorted(_pods(orphaned)) == ["app-1-exec-1", "app-1-exec-2", "app-driver-1"]
    before, config_maps = _pods(orphaned), orphaned.names("configmaps")
    orphaned.pass_time(600)
    orphaned.settle()
    assert _pods(orphaned) == before
    assert orphaned.names("configmaps") == config_maps


def test_all_that_is_in_the_way_is_named_at_once_with_one_command(orphaned: OperatorSim) -> None:
    assert orphaned.says("Launched") == ("False", "NameTaken")
    assert orphaned.says("Degraded") == ("True", "NameTaken")
    assert orphaned.status()["reason"] == "NameTaken"
    message = orphaned.condition("Launched")["message"]
    for name in LEFT:
        assert name in message
    command = message.partition("kubectl ")[2].split()
    assert command[0] == "delete"
    assert command[2:] == ["-n", "shop", "-l", "streamapp.dev/app=app"]
    for plural in command[1].split(","):
        group = {
            "roles": "apis/rbac.authorization.k8s.io/v1",
            "rolebindings": "apis/rbac.authorization.k8s.io/v1",
        }
        group |= {"statefulsets": "apis/apps/v1", "controllerrevisions": "apis/apps/v1"}
        group |= {"networkpolicies": "apis/networking.k8s.io/v1"}
        for name in orphaned.names(plural, group.get(plural, "api/v1")):
            path = f"/{group.get(plural, 'api/v1')}/namespaces/shop/{plural}/{name}?gracePeriodSeconds=0"
            orphaned.server.ask("DELETE", path)
    orphaned.settle()
    orphaned.begin()
    orphaned.report()
    orphaned.settle()
    assert orphaned.says("Ready") == ("True", "Running")
    assert orphaned.says("Degraded") == ("False", "Healthy")


def test_why_names_them_too(orphaned: OperatorSim) -> None:
    facts = SituationFacts(orphaned.app(), None, (), None, (), (), None)
    (situation,) = [one for one in SITUATIONS if one.name == "names-taken"]
    detail = situation.detail(facts)
    assert detail is not None
    assert "Service app-driver" in detail
    assert "kubectl delete pods," in detail

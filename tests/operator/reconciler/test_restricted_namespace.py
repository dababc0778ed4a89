"""With default values a namespace that enforces the restricted standard takes every pod of an app."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamapp_operator.reconciler.installation import Allowance
from tests.harness.machine.processes import until
from tests.harness.operator.driver_kubelet import asking_for_executors
from tests.harness.operator.golden_objects import CASES
from tests.harness.operator.operator_sim import INSTALLATION, ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

pytestmark = ON_REAL_SERVER

CLAIMS = {"state": {"persistentVolumeClaim": {"size": "1Gi"}}}
EMBEDDED_CLAIM = CASES["embedded"]
EMBEDDED = {name: value for name, value in EMBEDDED_CLAIM.items() if name != "state"}


@pytest.fixture
def restricted(sim: OperatorSim) -> OperatorSim:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    sim.server.ask(
        "PATCH",
        f"/api/v1/namespaces/{sim.namespace}",
        {"metadata": {"labels": labels}},
        "application/merge-patch+json",
    )
    return sim


@pytest.mark.parametrize(
    "spec",
    [{}, CLAIMS, EMBEDDED, EMBEDDED_CLAIM, {"code": {"configMap": "code"}}],
    ids=["emptyDir", "claims", "embedded", "embedded on a claim", "code"],
)
def test_the_driver_is_made(restricted: OperatorSim, spec: dict[str, Any]) -> None:
    restricted.apply(join(**spec))
    restricted.settle()
    assert restricted.says("Accepted") == ("True", "Accepted")
    assert restricted.driver()["metadata"]["name"] == "app-driver-1"


def test_the_standard_is_enforced_here(restricted: OperatorSim) -> None:
    """Else the other tests would say nothing."""
    root = {"securityContext": {"runAsUser": 0, "runAsNonRoot": False}}
    pod = {"metadata": {"name": "root"}, "spec": {"containers": [{"name": "x", "image": "x", **root}]}}
    server = restricted.server
    code, text = server.call("POST", f"/api/v1/namespaces/{restricted.namespace}/pods", pod)
    assert (code, "restricted" in text) == (403, True)


@pytest.mark.parametrize("spec", [{}, CLAIMS], ids=["pods", "set"])
def test_executors_are_made_as_spark_asks_for_them(
    restricted: OperatorSim, tmp_path: Path, spec: dict[str, Any]
) -> None:
    restricted.apply(join(**spec))
    restricted.settle()
    restricted.begin()
    with asking_for_executors(restricted, tmp_path, 2) as spark:
        if not spec:
            until(lambda: len(restricted.names("pods")) == 3, 180, spark)
            return
        until(lambda: len(_sets(restricted)) == 1, 180, spark)
        (made,) = _sets(restricted)
    template = deepcopy(made["spec"]["template"])
    pod = {"metadata": {**template["metadata"], "name": "set-0"}, "spec": template["spec"]}
    pod["spec"]["hostname"] = "set-0"  # as the set's controller does
    claim = {"claimName": "streamapp-state-set-0"}
    pod["spec"].setdefault("volumes", []).append({"name": "streamapp-state", "persistentVolumeClaim": claim})
    restricted.server.ask("POST", f"/api/v1/namespaces/{restricted.namespace}/pods", pod)


def test_a_sidecar_that_says_nothing_of_its_security_is_as_restricted_as_the_driver(
    restricted: OperatorSim,
) -> None:
    restricted.installation = INSTALLATION
    restricted.apply(
        join(driver={"template": {"spec": {"containers": [{"name": "side", "image": "side:1"}]}}})
    )
    restricted.settle()
    assert restricted.says("Accepted") == ("True", "Accepted")
    assert restricted.names("pods") == ["app-driver-1"]


def test_an_app_that_asks_for_more_is_refused_in_the_words_of_the_standard(restricted: OperatorSim) -> None:
    restricted.installation = replace(INSTALLATION, allowed=frozenset({Allowance.PRIVILEGED}))
    context = {"allowPrivilegeEscalation": True}
    sidecar = {"name": "side", "image": "side:1", "securityContext": context}
    restricted.apply(join(driver={"template": {"spec": {"containers": [sidecar]}}}))
    restricted.settle()
    assert restricted.says("Accepted") == ("False", "PodsRefused")
    assert "allowPrivilegeEscalation" in json.dumps(restricted.condition("Accepted"))


def _sets(sim: OperatorSim) -> list[dict[str, Any]]:
    return sim.objects("statefulsets", "apis/apps/v1")

"""What an app says about security contexts is in its pods; what it leaves out is the operator's."""

import json
from dataclasses import replace
from typing import Any

from streamapp_operator.reconciler.installation import Allowance
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

POD_CONTEXT = {"runAsUser": 2000, "fsGroup": 3000, "supplementalGroups": [4000]}


def _template(container: str, context: dict[str, Any]) -> dict[str, Any]:
    containers = [{"name": container, "securityContext": context}]
    return {"template": {"spec": {"securityContext": POD_CONTEXT, "containers": containers}}}


def _pods(sim: OperatorSim) -> list[dict[str, Any]]:
    files = sim.config_map("app-accepted-1")["data"]
    return [sim.driver()["spec"], json.loads(files["executor.json"])["spec"]]


def _app(context: dict[str, Any]) -> dict[str, Any]:
    return join(driver=_template("driver", context), executor=_template("spark-kubernetes-executor", context))


def test_the_context_of_an_app_is_honoured_and_completed(sim: OperatorSim) -> None:
    sim.apply(_app({"readOnlyRootFilesystem": True, "capabilities": {"drop": ["NET_RAW"]}}))
    sim.settle()
    for spec in _pods(sim):
        assert {name: spec["securityContext"][name] for name in POD_CONTEXT} == POD_CONTEXT
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        }


def test_what_the_installation_allows_reaches_the_pod(sim: OperatorSim) -> None:
    sim.installation = replace(sim.installation, allowed=frozenset({Allowance.PRIVILEGED}))
    sim.apply(_app({"allowPrivilegeEscalation": True, "capabilities": {"add": ["SYS_PTRACE"]}}))
    sim.settle()
    for spec in _pods(sim):
        assert spec["containers"][0]["securityContext"] == {
            "allowPrivilegeEscalation": True,
            "capabilities": {"add": ["SYS_PTRACE"], "drop": ["ALL"]},
        }

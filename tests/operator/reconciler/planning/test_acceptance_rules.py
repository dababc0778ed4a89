"""What an app may not ask of an installation, each at its path."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.installation import Allowance, Installation
from streamapp_operator.reconciler.planning.acceptance_rules import acceptance_problems
from tests.harness.operator.golden_objects import INSTALLATION, manifest, parsed

EVERYTHING = frozenset(Allowance)


def told(installation: Installation = INSTALLATION, **spec: Any) -> dict[str, str]:
    return {one.path: one.message for one in acceptance_problems(parsed(manifest(**spec)), installation)}


def driver(**spec: Any) -> dict[str, Any]:
    return {"driver": {"template": {"spec": spec}}}


def own(**container: Any) -> dict[str, Any]:
    return driver(containers=[{"name": "driver", **container}])


def sidecar(**container: Any) -> dict[str, Any]:
    return driver(containers=[{"name": "side", "image": "side:1", **container}])


PATH = "spec.driver.template.spec"
_REFERENCE = {"fieldRef": {"fieldPath": "metadata.name"}}
REFUSED: list[tuple[dict[str, Any], str, Allowance | None]] = [
    (driver(hostNetwork=True), f"{PATH}.hostNetwork", Allowance.HOST_NAMESPACES),
    (driver(hostPID=True), f"{PATH}.hostPID", Allowance.HOST_NAMESPACES),
    (driver(hostIPC=True), f"{PATH}.hostIPC", Allowance.HOST_NAMESPACES),
    (driver(serviceAccountName="admin"), f"{PATH}.serviceAccountName", Allowance.SERVICE_ACCOUNTS),
    (
        driver(volumes=[{"name": "v", "hostPath": {"path": "/"}}]),
        f"{PATH}.volumes[0].hostPath",
        Allowance.HOST_PATH,
    ),
    (
        driver(volumes=[{"name": "v", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]),
        f"{PATH}.volumes[0].projected.sources[0].serviceAccountToken",
        Allowance.SERVICE_ACCOUNTS,
    ),
    (
        sidecar(securityContext={"privileged": True}),
        f"{PATH}.containers[0].securityContext.privileged",
        Allowance.PRIVILEGED,
    ),
    (
        sidecar(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}),
        f"{PATH}.containers[0].securityContext.capabilities.add",
        Allowance.PRIVILEGED,
    ),
    (
        sidecar(securityContext={"runAsUser": 0}),
        f"{PATH}.containers[0].securityContext.runAsUser",
        Allowance.PRIVILEGED,
    ),
    (
        sidecar(securityContext={"seccompProfile": {"type": "Unconfined"}}),
        f"{PATH}.containers[0].securityContext.seccompProfile.type",
        Allowance.PRIVILEGED,
    ),
    (
        driver(securityContext={"seccompProfile": {"type": "Unconfined"}}),
        f"{PATH}.securityContext.seccompProfile.type",
        Allowance.PRIVILEGED,
    ),
    (
        sidecar(livenessProbe={"httpGet": {"port": 80, "host": "169.254.169.254"}}),
        f"{PATH}.containers[0].livenessProbe.httpGet.host",
        None,
    ),
    (
        sidecar(lifecycle={"preStop": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}),
        f"{PATH}.containers[0].lifecycle.preStop.tcpSocket.host",
        None,
    ),
    (
        driver(
            volumes=[
                {
                    "name": "v",
                    "projected": {
                        "sources": [{"podCertificate": {"signerName": "a/b", "keyType": "ED25519"}}]
                    },
                }
            ]
        ),
        f"{PATH}.volumes[0].projected.sources[0].podCertificate",
        Allowance.SERVICE_ACCOUNTS,
    ),
    (driver(securityContext={"runAsUser": 0}), f"{PATH}.securityContext.runAsUser", Allowance.PRIVILEGED),
    (
        sidecar(ports=[{"containerPort": 1, "hostPort": 1}]),
        f"{PATH}.containers[0].ports[0].hostPort",
        Allowance.HOST_NAMESPACES,
    ),
    (own(image="other"), f"{PATH}.containers[0].image", None),
    (own(env=[{"name": "STREAMAPP_REPORT", "value": "x"}]), f"{PATH}.containers[0].env[0].name", None),
    (
        {"env": [{"name": "A", "value": "1"}], **own(env=[{"name": "A", "valueFrom": _REFERENCE}])},
        f"{PATH}.containers[0].env[0].name",
        None,
    ),
    (
        {
            "code": {"configMap": "code"},
            "executor": {
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "spark-kubernetes-executor",
                                "env": [{"name": "PYTHONPATH", "value": "/x"}],
                            }
                        ]
                    }
                }
            },
        },
        "spec.executor.template.spec.containers[0].env[0].name",
        None,
    ),
    ({"env": [{"name": "STREAMAPP_POD", "value": "x"}]}, "spec.env[0].name", None),
    (own(command=["sh"]), f"{PATH}.containers[0].command", None),
    (own(resources={}), f"{PATH}.containers[0].resources", None),
    (driver(nodeName="n"), f"{PATH}.nodeName", None),
    (driver(restartPolicy="Always"), f"{PATH}.restartPolicy", None),
    (driver(volumes=[{"name": "v", "nfs": {}}]), f"{PATH}.volumes[0].nfs", None),
    (driver(volumes=[{"name": "streamapp-state", "emptyDir": {}}]), f"{PATH}.volumes[0].name", None),
    ({"driver": {"template": {"metadata": {"name": "x"}}}}, "spec.driver.template.metadata.name", None),
    ({"serviceAccountName": "admin"}, "spec.serviceAccountName", Allowance.SERVICE_ACCOUNTS),
    ({"state": {"hostPath": {"path": "/etc"}}}, "spec.state.hostPath.path", None),
    ({"state": {"hostPath": {"path": "/data/../etc"}}}, "spec.state.hostPath.path", None),
    ({"state": {"hostPath": {"path": "/database"}}}, "spec.state.hostPath.path", None),
    ({"state": {"hostPath": {"path": "/data/shop/shop.app/link"}}}, "spec.state.hostPath.path", None),
    ({"driver": {"sparkConf": {"spark.master": "local"}}}, "spec.driver.sparkConf.spark.master", None),
    ({"executor": {"sparkConf": {"spark.task.cpus": "2"}}}, "spec.executor.sparkConf.spark.task.cpus", None),
    ({"executor": {"resources": {"limits": {"memory": "735Mi"}}}}, "spec.executor.resources", None),
    ({"placement": {"standbys": 1}}, "spec.placement.standbys", None),
]


@pytest.mark.parametrize(("spec", "path", "allowance"), REFUSED, ids=[path for _, path, _ in REFUSED])
def test_it_is_refused_at_its_path_unless_the_installation_allows_it(
    spec: dict[str, Any], path: str, allowance: Allowance | None
) -> None:
    assert path in told(**spec)
    if allowance is not None:
        allowing = Installation(image="x", host_path_roots=("/data",), allowed=frozenset({allowance}))
        assert path not in told(allowing, **spec)
        others = Installation(image="x", host_path_roots=("/data",), allowed=EVERYTHING - {allowance})
        assert path in told(others, **spec)


def test_what_is_not_refused_is_allowed() -> None:
    template = {
        "metadata": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
        "spec": {
            "affinity": {}, "nodeSelector": {}, "tolerations": [], "priorityClassName": "high",
            "containers": [{"name": "driver", "env": []}, {"name": "side", "image": "s", "command": ["s"]}],
            "initContainers": [{"name": "first", "image": "f"}],
            "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "secret": {"secretName": "s"}}],
        },
    }  # fmt: skip
    assert told(driver={"template": template}) == {}


def guide_specs() -> list[dict[str, Any]]:
    """What the guide of state queries shows below `spec`."""
    page = Path("docs/guide/state-queries.md").read_text("utf-8")
    blocks = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    return [block["spec"] for block in blocks if block.keys() == {"spec"}]


@pytest.mark.parametrize("spec", guide_specs(), ids=" ".join)
def test_what_the_guide_of_state_queries_shows_is_allowed(spec: dict[str, Any]) -> None:
    assert told(**spec) == {}


def test_the_token_of_state_queries_may_be_set_for_all_or_for_the_driver_alone() -> None:
    token = {
        "name": "STREAMAPP_STATE_TOKEN",
        "valueFrom": {"secretKeyRef": {"name": "page-views-state", "key": "token"}},
    }
    assert told(env=[token]) == told(**own(env=[token])) == {}
    assert told(env=[token], **own(env=[token])).keys() == {f"{PATH}.containers[0].env[0].name"}


def test_a_misspelt_field_is_told_beside_the_one_that_was_meant() -> None:
    assert 'did you mean "tolerations"?' in told(**driver(toleration=[]))[f"{PATH}.toleration"]


def test_an_app_without_an_image_is_told_so_where_there_is_no_default() -> None:
    assert "no default image" in told(Installation())["spec.image"]


def test_an_embedded_system_takes_one_processor() -> None:
    systems = [{"name": "main", "embedded": {"path": "./data"}}]
    found = acceptance_problems(parsed(manifest(systems=systems, processors=2)), INSTALLATION)
    (problem,) = found
    assert problem.reason is Reason.UNSUPPORTED_SYSTEM
    assert problem.path == "spec.systems[0].embedded"
    assert told(systems=systems, processors=1) == {}

"""A real API server takes every object that the chart renders, and its pods into the strictest namespaces."""

from copy import deepcopy
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.helm import Helm, of_kind, value_set, value_sets


def definition(kind: str, plural: str) -> dict[str, Any]:
    """That there is such a kind; what is in it is the Prometheus operator's to say."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.monitoring.coreos.com"},
        "spec": {
            "group": "monitoring.coreos.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
        },
    }


MONITORING = [
    definition("ServiceMonitor", "servicemonitors"),
    definition("PrometheusRule", "prometheusrules"),
]


@pytest.fixture(scope="module")
def cluster(api_server: ApiServer) -> ApiServer:
    """An API server with all that values name: their namespaces, ServiceMonitors and PrometheusRules."""
    for name in ("streamapp-system", "shop", "ads", "trials"):
        said = api_server.kubectl("create", "namespace", name)
        assert said.returncode == 0 or "already exists" in said.stderr
    applied = api_server.kubectl("apply", "-f", "-", given=MONITORING)
    assert applied.returncode == 0, applied.stderr
    names = [one["metadata"]["name"] for one in MONITORING]
    waited = api_server.kubectl("wait", "--for=condition=Established", "crd", *names)
    assert waited.returncode == 0, waited.stderr
    return api_server


@pytest.mark.parametrize("name", value_sets())
def test_every_object_of_every_template_is_taken_as_it_is(cluster: ApiServer, helm: Helm, name: str) -> None:
    objects = helm.objects(value_set(name))
    done = cluster.kubectl(
        "apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-",
        given=objects,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert done.stdout.count("serverside-applied") == len(objects)


def restricted(cluster: ApiServer, namespace: str) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    assert cluster.kubectl("label", "--overwrite", "namespace", namespace, label).returncode == 0


def pods(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The pods that objects are, or would be made into."""
    found = [*of_kind(objects, "Pod").values()]
    for workload in of_kind(objects, "Deployment").values():
        template = deepcopy(workload["spec"]["template"])
        template["metadata"] |= {"name": workload["metadata"]["name"]}
        found.append({"apiVersion": "v1", "kind": "Pod", **template})
    return found


@pytest.mark.parametrize("name", value_sets())
def test_pods_meet_the_restricted_standard(cluster: ApiServer, namespace: str, helm: Helm, name: str) -> None:
    restricted(cluster, namespace)
    wanted = pods(helm.objects(value_set(name), "--set=priorityClassName="))
    assert len(wanted) == 3
    for pod in wanted:
        pod["metadata"]["namespace"] = namespace
        code, said = cluster.call("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)
        assert code == 201, said


def test_only_what_prepares_nodes_asks_for_more(cluster: ApiServer, namespace: str, helm: Helm) -> None:
    restricted(cluster, namespace)
    (workload,) = of_kind(helm.objects(value_set("host-state")), "DaemonSet").values()
    pod = {"apiVersion": "v1", "kind": "Pod", **workload["spec"]["template"]}
    pod["metadata"] |= {"name": "one", "namespace": namespace}
    code, said = cluster.call("POST", f"/api/v1/namespaces/{namespace}/pods?dryRun=All", pod)
    assert code == 403
    assert "restricted volume types" in said
    assert "privileged" not in said


@pytest.mark.parametrize("name", value_sets())
def test_the_roots_of_containers_are_read_only(helm: Helm, name: str) -> None:
    objects = helm.objects(value_set(name))
    workloads = [one["spec"]["template"] for one in objects if one["kind"] in ("Deployment", "DaemonSet")]
    for pod in [*workloads, *of_kind(objects, "Pod").values()]:
        for container in pod["spec"]["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"], container["name"]

"""Helm installs, changes and takes away, on a real API server."""

import subprocess
from typing import Any

import pytest

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.helm import CHART, Helm, value_set
from tests.harness.operator.operator_processes import app, put

CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/streamapps.streamapp.dev"


class Release:
    """The chart as `streamapp` in a namespace of its own."""

    def __init__(self, server: ApiServer, helm: Helm, namespace: str) -> None:
        self.server, self.helm, self.namespace = server, helm, namespace

    def _run(self, *args: Any) -> subprocess.CompletedProcess[str]:
        where = (f"--namespace={self.namespace}", f"--kubeconfig={self.server.kubeconfig()}")
        return self.helm.run(*args, *where)

    def upgrade(self, *args: str) -> str:
        done = self._run("upgrade", "--install", "streamapp", CHART, "--reset-values", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def uninstall(self) -> str:
        done = self._run("uninstall", "streamapp")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def get(self, path: str) -> Any:
        return self.server.ask("GET", path)

    def deployment(self) -> Any:
        return self.get(f"/apis/apps/v1/namespaces/{self.namespace}/deployments/streamapp-operator")


@pytest.fixture
def release(empty_cluster: ApiServer, helm: Helm) -> Release:
    for name in ("streamapp-system", "shop", "ads", "trials"):
        said = empty_cluster.kubectl("create", "namespace", name)
        assert said.returncode == 0 or "already exists" in said.stderr
    return Release(empty_cluster, helm, "streamapp-system")


@pytest.mark.usefixtures("process")
def test_apps_and_what_defines_them_outlive_the_release(release: Release) -> None:
    release.upgrade()
    wanted = app("shop")
    put(release.server, wanted)
    release.uninstall()
    assert release.server.answers(CRD)
    assert release.server.answers("/apis/streamapp.dev/v1alpha1/namespaces/shop/streamapps/app")
    release.upgrade()
    release.uninstall()


@pytest.mark.usefixtures("process")
def test_what_is_not_kept_goes_with_the_release(release: Release) -> None:
    release.upgrade("--set=crds.keep=false")
    release.uninstall()
    release.server.kubectl("wait", "--for=delete", "crd/streamapps.streamapp.dev", "--timeout=60s")
    assert not release.server.answers(CRD)
    left = release.server.kubectl(
        "get", "all,roles,rolebindings,clusterroles,clusterrolebindings,configmaps,pdb", "-A",
        "-l", "app.kubernetes.io/part-of=streamapp", "-o", "name",
    )  # fmt: skip
    assert left.stdout == ""


CHANGES = [
    (("--set=replicas=3",), ()),
    ((), (value_set("replicas"), "--set=priorityClassName=")),
    ((value_set("some-namespaces"), "--set=crds.install=true"), ()),
    ((), (value_set("some-namespaces"), "--set=crds.install=true")),
    ((value_set("host-state"),), ("--set=apps.hostPathRoots={/other}", "--set=hostState.enabled=true")),
    (("--set=operatorClass=blue",), ("--set=image.tag=v9",)),
]


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_any_values_can_follow_any_others(
    release: Release, before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    release.upgrade(*before)
    uid = release.deployment()["metadata"]["uid"]
    release.upgrade(*after)
    assert release.deployment()["metadata"]["uid"] == uid
    release.uninstall()


@pytest.mark.usefixtures("process")
def test_a_single_replica_after_several_is_not_rolled(release: Release) -> None:
    release.upgrade()
    assert release.deployment()["spec"]["strategy"]["type"] == "RollingUpdate"
    release.upgrade("--set=replicas=1")
    assert release.deployment()["spec"]["strategy"] == {"type": "Recreate"}
    release.uninstall()


@pytest.mark.usefixtures("process")
def test_another_installation_file_is_read_by_another_pod(release: Release) -> None:
    release.upgrade()
    first = release.deployment()["spec"]["template"]
    release.upgrade("--set=apps.driverRequests.cpu=2")
    second = release.deployment()["spec"]["template"]
    assert first["metadata"]["annotations"] != second["metadata"]["annotations"]
    assert first["spec"] == second["spec"]
    release.uninstall()


@pytest.mark.usefixtures("process")
def test_the_same_values_again_change_nothing(release: Release) -> None:
    release.upgrade()
    before = release.deployment()["metadata"]["generation"]
    release.upgrade()
    assert release.deployment()["metadata"]["generation"] == before
    release.uninstall()


@pytest.mark.usefixtures("process")
def test_the_notes_say_what_to_do_next(release: Release) -> None:
    said = release.upgrade("--set=namespaces={shop}")
    assert "helm test streamapp -n streamapp-system --logs" in said
    assert "kubectl apply -n shop -f app.yaml" in said
    assert "kubectl delete crd streamapps.streamapp.dev" in said
    assert "admission.driverPods=always would" in said
    assert "Nothing holds drivers" not in release.upgrade()
    release.uninstall()

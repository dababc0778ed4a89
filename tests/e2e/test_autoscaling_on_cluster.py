"""A load that comes and goes is followed by the processors; meanwhile the app is looked at from outside."""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.chart_installation import Installation
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until
from tests.harness.machine.processes import Child

APP = "autoscaled"
STREAMAPP = str(Path(sys.executable).with_name("streamapp"))


@pytest.fixture(scope="module")
def app(new_space: NewSpace) -> RunningApp:
    running = RunningApp(new_space(APP), Traffic(APP))
    running.traffic.begin()
    running.space.play("autoscaled/01")
    running.goes_on()
    return running


def processors(app: RunningApp) -> int:
    return int(app.space.app(APP)["spec"]["processors"])


def test_its_lanes_are_resident_and_batches_are_no_jobs_of_spark(app: RunningApp) -> None:
    service = f"{APP}-driver"
    (run,) = json.loads(app.space.page(service, "ui", "api/v1/applications"))
    before = app.counted("streamapp_batches_total")
    jobs = json.loads(app.space.page(service, "ui", f"api/v1/applications/{run['id']}/jobs"))
    app.goes_on()
    assert app.counted("streamapp_batches_total") > before
    later_jobs = json.loads(app.space.page(service, "ui", f"api/v1/applications/{run['id']}/jobs"))
    assert [job["jobId"] for job in later_jobs] == [job["jobId"] for job in jobs]
    assert "RUNNING" in {job["status"] for job in later_jobs}


def test_state_is_queried_with_the_command(app: RunningApp) -> None:
    kubeconfig = str(app.space.cluster.kubeconfig)
    words = ["state", "get", APP, "users", "user-1", "-n", APP, "--kubeconfig", kubeconfig, "-o", "json"]
    answer = app.space.cluster.programs.run(STREAMAPP, *words)
    assert '"country"' in answer


def test_lag_brings_another_processor_and_calm_gives_it_up(app: RunningApp) -> None:
    def loaded() -> list[str]:
        if processors(app) == 2:
            return []
        app.traffic.view(1_000)
        return [f"{APP} has one processor, and {app.report().progress}"]

    until(loaded, LIMIT)
    app.space.looks_like("autoscaled/02-assert")
    (message, *_) = app.space.events(APP, "Scaled")
    assert message.startswith("from 1 to 2 processors: lag at most ")
    until(app.traffic.wrong, LIMIT)
    app.space.looks_like("autoscaled/03-assert")
    app.goes_on()


@contextmanager
def forwarded(cluster: Cluster, installation: Installation, folder: Path) -> Iterator[str]:
    """The port of the operator's page on this machine."""
    kubectl = cluster.programs.paths["kubectl"]
    where = [f"--kubeconfig={cluster.kubeconfig}", "-n", installation.namespace]
    words = [kubectl, *where, "port-forward", "deployment/streamapp-operator", ":8081"]
    with Child(words, folder / "forwarded.log") as child:
        until(lambda: [] if "Forwarding" in child.said() else ["nothing is forwarded yet"], 60)
        (port,) = re.findall(r"127\.0\.0\.1:(\d+) ->", child.said())
        yield f"http://127.0.0.1:{port}"


def rows(url: str, token: str) -> list[dict[str, Any]]:
    request = Request(f"{url}/apps/data", headers={"Authorization": f"Bearer {token}"})  # noqa: S310 - http of this machine
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
        return list(json.load(answer)["apps"])


def test_the_page_of_all_apps_shows_a_viewer_the_apps_of_the_own_namespace(
    app: RunningApp, kind: Cluster, installation: Installation, tmp_path: Path
) -> None:
    installation.install(appsPage__enabled="true")
    space = app.space
    for account in ("viewer", "stranger"):
        space.kubectl("create", "serviceaccount", account)
    space.kubectl("create", "rolebinding", "viewer", "--clusterrole=view", f"--serviceaccount={APP}:viewer")
    with forwarded(kind, installation, tmp_path) as url:
        token = space.kubectl("create", "token", "viewer").strip()
        (row,) = rows(url, token)
        assert (row["namespace"], row["name"], row["phase"], row["ready"]) == (APP, APP, "Running", "True")
        assert rows(url, space.kubectl("create", "token", "stranger").strip()) == []
    installation.install()

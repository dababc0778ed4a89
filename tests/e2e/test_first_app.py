"""The first app that anybody applies: it becomes ready step by step, and writes what it has to."""

import json
from copy import deepcopy
from typing import Any

import pytest

from streamapp.protocol.run_authentication import RUN_AUTH_VOLUME
from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.waiting import until

APP = "page-views"
STEPS = ("Accepted", "Planned", "Launched", "Ready")


@pytest.fixture(scope="module")
def app(new_space: NewSpace) -> RunningApp:
    space, traffic = new_space(APP), Traffic(APP)
    traffic.begin()
    traffic.view()
    space.play("page-views/01")
    return RunningApp(space, traffic)


def test_it_is_accepted_then_planned_then_launched_then_ready(app: RunningApp) -> None:
    times = [app.space.condition(APP, step)["lastTransitionTime"] for step in STEPS]
    assert times == sorted(times)


def test_its_executors_were_at_work_before_it_was_ready(app: RunningApp) -> None:
    ready = app.space.condition(APP, "Ready")["lastTransitionTime"]
    began = [pod["status"]["startTime"] for pod in app.executors()]
    assert len(began) == 2
    assert max(began) < ready


def test_the_joined_rows_are_those_of_the_model(app: RunningApp) -> None:
    app.goes_on()


def test_each_of_two_processors_is_on_a_node_of_its_own(app: RunningApp) -> None:
    assert sorted(app.nodes().values()) == app.space.cluster.workers()


def test_its_metrics_are_at_its_service(app: RunningApp) -> None:
    assert app.counted("streamapp_rows_in_total") >= len(app.traffic.views)
    assert app.counted("streamapp_bad_records_total") == 0


def test_sparks_pages_are_at_its_service(app: RunningApp) -> None:
    assert "Spark" in app.space.page(f"{APP}-driver", "ui", "jobs/")


def _stranger(executor: dict[str, Any], name: str) -> dict[str, Any]:
    """A pod that knows all that an executor knows, but the secret of the run."""
    spec = deepcopy(executor["spec"])
    spec.pop("nodeName", None)
    (container,) = spec["containers"]
    for mounts in (spec["volumes"], container["volumeMounts"]):
        mounts[:] = [one for one in mounts if one["name"] != RUN_AUTH_VOLUME]
    container["env"] = [one for one in container["env"] if "spark.authenticate" not in one.get("value", "")]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {**spec, "hostname": name}}


def test_a_strangers_pod_is_refused_by_the_driver_and_the_app_goes_on(app: RunningApp) -> None:
    space, executor = app.space, app.executors()[0]
    assert RUN_AUTH_VOLUME in {volume["name"] for volume in executor["spec"]["volumes"]}
    space.kubectl("apply", "-f", "-", given=json.dumps(_stranger(executor, "stranger")))

    def phase() -> list[str]:
        found = json.loads(space.kubectl("get", "pod", "stranger", "-o", "json"))["status"].get("phase")
        return [] if found == "Failed" else [f"the stranger is {found}"]

    until(phase, LIMIT)
    assert "Successfully registered with driver" not in space.kubectl("logs", "stranger")
    app.goes_on()

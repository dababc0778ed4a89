"""The first app that anybody applies: it becomes ready step by step, and writes what it has to."""

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic

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

"""Executors, drivers and nodes go, and state is where it was, as far as its kind of volume can promise."""

from collections.abc import Iterator

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.assertion_match import differences
from tests.harness.cluster.cluster_faults import drained
from tests.harness.cluster.waiting import until

RESTORED = "streamapp_restored_entries_total"
KINDS = ("host-path", "claims", "empty-dir")


@pytest.fixture(scope="module", params=KINDS)
def app(request: pytest.FixtureRequest, new_space: NewSpace) -> Iterator[RunningApp]:
    kind = request.param
    # The folder on a node belongs to root until a first container has given it away.
    space, traffic = new_space(kind, restricted=kind != "host-path"), Traffic(kind)
    traffic.begin()
    traffic.view()
    space.play(f"state/{kind}")
    until(traffic.wrong, LIMIT)
    yield RunningApp(space, traffic)
    space.kubectl("delete", "streamapp", kind)  # makes room for the next one


def outlives_its_pod(app: RunningApp) -> bool:
    """Whether what an app has stored is still there when the pod is gone."""
    return app.name != "empty-dir"


def test_an_executor_that_is_deleted_comes_back_to_its_stores(app: RunningApp) -> None:
    app.settled()
    before, restored = app.nodes(), app.counted(RESTORED)
    victim = app.executor_on(before["processor-0"])
    app.space.kubectl("delete", "pod", victim, "--now")
    app.goes_on()
    if outlives_its_pod(app):
        until(lambda: differences(before, app.nodes()), LIMIT)
        assert app.counted(RESTORED) == restored
    else:
        assert app.counted(RESTORED) > restored


def test_a_driver_that_is_deleted_finds_all_stores_where_they_were(app: RunningApp) -> None:
    before, driver = app.nodes(), app.space.driver(app.name)
    app.space.kubectl("delete", "pod", driver, "--wait=false")
    app.goes_on()
    assert app.space.driver(app.name) != driver
    if outlives_its_pod(app):
        until(lambda: differences(before, app.nodes()), LIMIT)
        assert app.counted(RESTORED) == 0
    else:
        assert app.counted(RESTORED) > 0


def test_tasks_of_a_node_that_is_drained_go_on_elsewhere_and_stay_there(app: RunningApp) -> None:
    home = app.space.pods(app.name, "driver")[0]["spec"]["nodeName"]
    away = next(node for node in app.space.cluster.workers() if node != home)
    restored = app.counted(RESTORED)
    with drained(app.space, away):
        app.goes_on()
        until(lambda: [f"{name} is on {on}" for name, on in app.nodes().items() if on != home], LIMIT)
        assert app.counted(RESTORED) > restored
        pods, restored = app.pods(), app.counted(RESTORED)
    app.goes_on()
    assert pods <= app.pods()
    assert app.counted(RESTORED) == restored

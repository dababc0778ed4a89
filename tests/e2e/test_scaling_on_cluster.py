"""What is done by hand to an app that runs, and to its installation; each time the operator is killed."""

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.chart_installation import Installation
from tests.harness.cluster.waiting import until

APP = "scaling"
OWNED = "pods,services,configmaps,serviceaccounts,roles,rolebindings"


@pytest.fixture(scope="module")
def app(new_space: NewSpace) -> RunningApp:
    running = RunningApp(new_space(APP), Traffic(APP))
    running.traffic.begin()
    running.space.play("scaling/01")
    running.goes_on()
    return running


def test_scaled_it_takes_up_a_processor_more_in_the_same_run_and_one_task_moves(
    app: RunningApp, installation: Installation
) -> None:
    app.space.kubectl("scale", f"streamapp/{APP}", "--replicas=3")
    installation.kill()
    app.space.looks_like("scaling/02-assert")
    app.goes_on()
    assert app.counted("streamapp_tasks_moved_total") == 1


def test_suspended_it_rests_and_resumed_it_goes_on_where_it_was(
    app: RunningApp, installation: Installation
) -> None:
    app.space.edit(APP, suspend=True)
    installation.kill()
    app.space.looks_like("scaling/03-assert")
    assert app.space.names("pods") == []
    app.traffic.view()

    app.space.edit(APP, suspend=False)
    installation.kill()
    app.space.looks_like("scaling/04-assert")
    app.goes_on()


def test_an_upgrade_of_the_chart_leaves_it_alone(app: RunningApp, installation: Installation) -> None:
    before = app.pods()
    installation.install(logLevel="debug")
    installation.kill()
    installation.install()
    app.goes_on()
    app.space.looks_like("scaling/04-assert")
    assert app.pods() == before


def test_it_goes_on_without_the_chart_and_the_next_one_adopts_it(
    app: RunningApp, installation: Installation
) -> None:
    before = app.pods()
    installation.uninstall()
    app.goes_on()
    installation.install()
    app.space.kubectl("scale", f"streamapp/{APP}", "--replicas=2")
    app.space.looks_like("scaling/05-assert")
    app.goes_on()
    assert app.pods() < before


def test_where_the_definition_goes_with_the_chart_every_app_goes_too(
    app: RunningApp, installation: Installation
) -> None:
    installation.install(crds__keep="false")
    installation.uninstall()
    until(lambda: app.space.names(OWNED), LIMIT)
    installation.install()

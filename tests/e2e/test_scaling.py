"""One app through all that is done to it by hand while it runs; each time its operator is killed."""

from dataclasses import dataclass

import pytest

from tests.e2e.conftest import NewSpace
from tests.e2e.installation import Installation
from tests.e2e.space import LIMIT, Space
from tests.e2e.traffic import Traffic
from tests.e2e.waiting import until

APP = "scaling"


@dataclass(frozen=True, slots=True)
class Running:
    """The app and what it reads."""

    space: Space
    traffic: Traffic

    def goes_on(self) -> None:
        """More views come, and what comes out is exact."""
        self.traffic.view()
        until(self.traffic.wrong, LIMIT)

    def pods(self) -> set[str]:
        """Its pods as such: one that was made anew is another."""
        roles = ("driver", "executor")
        return {pod["metadata"]["uid"] for role in roles for pod in self.space.pods(APP, role)}


@pytest.fixture(scope="module")
def app(new_space: NewSpace) -> Running:
    space, traffic = new_space(APP), Traffic(APP)
    traffic.begin()
    space.play("scaling/01")
    running = Running(space, traffic)
    running.goes_on()
    return running


def test_scaled_it_takes_up_a_processor_more_in_the_same_run(
    app: Running, installation: Installation
) -> None:
    app.space.kubectl("scale", f"streamapp/{APP}", "--replicas=3")
    installation.kill()
    app.space.looks_like("scaling/02-assert")
    app.goes_on()


def test_suspended_it_rests_and_resumed_it_goes_on_where_it_was(
    app: Running, installation: Installation
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


def test_an_upgrade_of_the_chart_leaves_it_alone(app: Running, installation: Installation) -> None:
    before = app.pods()
    installation.install(logLevel="debug")
    installation.kill()
    installation.install()
    app.goes_on()
    app.space.looks_like("scaling/04-assert")
    assert app.pods() == before


def test_it_goes_on_without_the_chart_and_the_next_one_adopts_it(
    app: Running, installation: Installation
) -> None:
    before = app.pods()
    installation.uninstall()
    app.goes_on()
    installation.install()
    app.space.kubectl("scale", f"streamapp/{APP}", "--replicas=2")
    app.space.looks_like("scaling/05-assert")
    app.goes_on()
    assert app.pods() < before


def test_where_the_definition_goes_with_the_chart_it_goes_too(
    app: Running, installation: Installation
) -> None:
    installation.install(crds__keep="false")
    installation.uninstall()
    until(lambda: app.space.names("pods,services,configmaps,serviceaccounts,roles,rolebindings"), LIMIT)
    installation.install()

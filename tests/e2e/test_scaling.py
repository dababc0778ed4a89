from tests.e2e.conftest import NewSpace
from tests.e2e.installation import Installation
from tests.e2e.space import LIMIT, Space
from tests.e2e.traffic import Traffic
from tests.e2e.waiting import until

APP = "scaling"


def test_an_app_is_scaled_suspended_and_resumed_while_its_operator_is_killed(
    installation: Installation, new_space: NewSpace
) -> None:
    space, traffic = new_space(APP), Traffic(APP)
    traffic.begin()
    traffic.view()
    space.play("scaling/01")
    until(traffic.wrong, LIMIT)

    space.kubectl("scale", "streamapp/scaling", "--replicas=3")
    installation.kill()
    space.looks_like("scaling/02-assert")
    traffic.view()
    until(traffic.wrong, LIMIT)

    space.edit(APP, suspend=True)
    installation.kill()
    space.looks_like("scaling/03-assert")
    assert space.names("pods") == []
    traffic.view()

    space.edit(APP, suspend=False)
    installation.kill()
    space.looks_like("scaling/04-assert")
    until(traffic.wrong, LIMIT)

    before = _pods(space)
    installation.install(logLevel="debug")
    installation.kill()
    installation.install()
    traffic.view()
    until(traffic.wrong, LIMIT)
    space.looks_like("scaling/04-assert")
    assert _pods(space) == before


def _pods(space: Space) -> set[str]:
    """The pods of the app as such: one that was made anew is another."""
    return {pod["metadata"]["uid"] for role in ("driver", "executor") for pod in space.pods(APP, role)}

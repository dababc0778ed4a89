"""The first app that anybody applies: it becomes ready step by step, and writes what it has to."""

import json
import re
import sys
from ast import literal_eval
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from streamapp.protocol.run_authentication import RUN_AUTH_VOLUME
from streamapp_operator.reconciler.objects import driver_service
from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.cluster_faults import kill_driver
from tests.harness.cluster.cluster_programs import ProgramError
from tests.harness.cluster.waiting import until
from tests.harness.machine.listening_sockets import KINDS, ListeningSocket, bound_sockets
from tests.harness.machine.processes import Child

APP = "page-views"
STREAMAPP = str(Path(sys.executable).with_name("streamapp"))
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


def test_an_edit_has_its_lanes_not_wait_for_each_other_in_the_same_driver(app: RunningApp) -> None:
    space, driver = app.space, app.space.driver(APP)
    for independent in (True, False):
        space.edit(APP, batch={"independentLanes": independent})
        generation = space.app(APP)["metadata"]["generation"]

        def problems(wanted: int = generation) -> list[str]:
            reported = app.report().generation
            return [] if reported == wanted else [f"the driver runs generation {reported}"]

        until(problems, LIMIT)
        app.goes_on()
    assert space.driver(APP) == driver


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


def test_the_app_goes_on_when_its_pods_are_to_encrypt_and_to_show_a_page(app: RunningApp) -> None:
    """The port of the lanes shows a certificate, and did not before."""
    space, former = app.space, app.space.driver(APP)
    with pytest.raises(ProgramError):
        _lane_certificate(space, former)
    space.edit(APP, network={"encryption": True}, page={"enabled": True})
    until(lambda: ["the driver is the former one"] if former in _drivers(space) else [], LIMIT)
    app.goes_on()
    assert "BEGIN CERTIFICATE" in _lane_certificate(space, space.driver(APP))


def test_pods_listen_where_the_trust_model_says(app: RunningApp) -> None:
    """Its driver has a page now, which is on loopback, and other free ports of Spark are, too."""
    space = app.space
    (driver,) = space.pods(APP, "driver")
    sockets = _reachable_sockets(space, driver)
    ports = {socket.port for socket in sockets if socket.kind.startswith("tcp")}
    assert ports == set(driver_service.PORTS.values())
    assert len([socket for socket in sockets if socket.kind.startswith("udp")]) <= 1
    for executor in app.executors():
        assert {socket.port for socket in _reachable_sockets(space, executor)} == {
            driver_service.PORTS["blockmanager"]
        }


def test_the_command_has_its_page_on_this_machine(app: RunningApp, tmp_path: Path) -> None:
    kubeconfig = str(app.space.cluster.kubeconfig)
    command = [STREAMAPP, "page", APP, "--no-open", "-n", APP, "--kubeconfig", kubeconfig]
    with Child(command, tmp_path / "page.log") as child:
        until(lambda: [] if "until Ctrl-C" in child.said() else ["there is no page yet"], LIMIT)
        (url,) = re.findall(r"http://\S+/page/", child.said())
        with urlopen(f"{url}data") as answer:  # noqa: S310 - http of this machine
            assert json.load(answer)["app"] == f"{APP}.{APP}"


def test_the_driver_has_the_sizes_of_the_state_that_lies_with_its_executors(app: RunningApp) -> None:
    def problems() -> list[str]:
        samples = _metrics(app.space, app.space.driver(APP))
        wanted = ("streamapp_state_bytes{", "streamapp_state_free_bytes{")
        return [f"no {name}" for name in wanted if not any(line.startswith(name) for line in samples)]

    until(problems, LIMIT)


def test_a_driver_that_is_killed_is_replaced_and_each_row_is_there_once(app: RunningApp) -> None:
    former = app.space.driver(APP)
    kill_driver(app.space)
    app.goes_on()
    assert app.report().driver != former


def _metrics(space: Space, driver: str) -> list[str]:
    url = f"http://localhost:{driver_service.METRICS}/metrics"
    program = f"from urllib.request import urlopen; print(urlopen({url!r}).read().decode())"
    return space.kubectl("exec", driver, "-c", "driver", "--", "python", "-c", program).splitlines()


def _reachable_sockets(space: Space, pod: dict[str, Any]) -> list[ListeningSocket]:
    """The sockets of a pod that others reach."""
    program = (
        f"from pathlib import Path; print({{kind: Path('/proc/net', kind).read_text() for kind in {KINDS}}})"
    )
    container = pod["spec"]["containers"][0]["name"]
    tables = literal_eval(
        space.kubectl("exec", pod["metadata"]["name"], "-c", container, "--", "python", "-c", program)
    )
    sockets = [socket for kind, table in tables.items() for _, socket in bound_sockets(kind, table)]
    return [socket for socket in sockets if not socket.is_loopback]


def _drivers(space: Space) -> list[str]:
    return [str(pod["metadata"]["name"]) for pod in space.pods(APP, "driver")]


def _lane_certificate(space: Space, driver: str) -> str:
    """What a driver shows to who asks for encryption at the port of its lanes."""
    address = ("localhost", driver_service.LANES)
    program = f"import ssl; print(ssl.get_server_certificate({address}, timeout=10))"
    return space.kubectl("exec", driver, "-c", "driver", "--", "python", "-c", program)

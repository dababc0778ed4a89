"""`streamapp page` by a real API server to a node whose kubelet the test plays; the page is a real one."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from signal import SIGINT
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from streamapp.protocol.driver_report import Progress
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.forwarding_kubelet import ForwardingKubelet
from tests.harness.api_server.played_node import played_node
from tests.harness.engine.watched_pages import WatchedRun, page_served, running
from tests.harness.graphs.shop_apps import shop
from tests.harness.machine.processes import Child, until
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

SECONDS = 60.0
LAG = 4_096  # as drivers report it: a power of two
STREAMAPP = str(Path(sys.executable).with_name("streamapp"))


@pytest.fixture
def kubelet(sim: OperatorSim, api_server: ApiServer) -> Iterator[ForwardingKubelet]:
    """That of the node where the driver of an app with a page runs."""
    node = f"node-of-{sim.namespace}"
    with ForwardingKubelet(api_server) as played, played_node(api_server, node, played.port):
        sim.apply(join(page={"enabled": True}))
        sim.settle()
        sim.begin(node=node)
        yield played


def command(sim: OperatorSim, *words: str) -> list[str]:
    return [STREAMAPP, "page", "app", "--no-open", *words, *sim.cluster_options()]


@contextmanager
def forwarded(sim: OperatorSim, folder: Path) -> Iterator[tuple[Child, str]]:
    """The command, and the address that it says."""
    with Child(command(sim), folder / "page.log", dict(os.environ)) as child:
        until(lambda: "until Ctrl-C" in child.said(), SECONDS, child)
        (url,) = re.findall(r"http://127\.0\.0\.1:\d+/page/", child.said())
        yield child, url


def fetched(url: str | Request) -> Any:
    with urlopen(url, timeout=SECONDS) as answer:  # noqa: S310 - http of this machine
        return answer.read()


@contextmanager
def driver_page(operators: int) -> Iterator[int]:
    """A page as a driver serves it, and its port."""
    run = WatchedRun()
    run.recorder.runs(running(shop(operators)))
    with page_served(run.recorder) as url:
        yield int(url.split(":")[2].split("/")[0])


@ON_REAL_SERVER
def test_the_page_of_the_driver_is_here(sim: OperatorSim, kubelet: ForwardingKubelet, tmp_path: Path) -> None:
    with driver_page(60) as port, forwarded(sim, tmp_path) as (_, url):
        kubelet.ports["app-driver-1"] = port
        assert b"<title>" in fetched(url)
        direct = fetched(f"http://127.0.0.1:{port}/page/plan.svg")
        assert len(direct) > 32 * 1024, "it takes several messages"
        assert fetched(f"{url}plan.svg") == direct


@ON_REAL_SERVER
def test_events_come_as_they_are_made(sim: OperatorSim, kubelet: ForwardingKubelet, tmp_path: Path) -> None:
    with driver_page(5) as port, forwarded(sim, tmp_path) as (_, url):
        kubelet.ports["app-driver-1"] = port
        with urlopen(f"{url}events", timeout=SECONDS) as events:  # noqa: S310 - the same
            lines = [events.readline() for _ in range(6)]
        assert sum(line.startswith(b"data: ") for line in lines) >= 2


@ON_REAL_SERVER
def test_after_a_restart_it_is_the_page_of_the_next_driver(
    sim: OperatorSim, kubelet: ForwardingKubelet, tmp_path: Path
) -> None:
    with ExitStack() as pages, forwarded(sim, tmp_path) as (child, url):
        kubelet.ports["app-driver-1"] = pages.enter_context(driver_page(5))
        first = fetched(f"{url}plan.svg")
        sim.fail_driver(60)
        sim.begin(node=f"node-of-{sim.namespace}")
        for _ in range(2):
            with suppress(OSError):
                fetched(url)
        assert child.said().count("no page at the moment: failed to connect to localhost:9405") == 1
        kubelet.ports["app-driver-2"] = pages.enter_context(driver_page(60))
        assert fetched(f"{url}plan.svg") != first


def refused(sim: OperatorSim, *words: str) -> str:
    done = subprocess.run(command(sim, *words), capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode != 0
    return done.stderr


@ON_REAL_SERVER
def test_what_is_missing_is_said_before_anything_is_forwarded(sim: OperatorSim) -> None:
    assert 'there is no StreamApp "app"' in refused(sim)
    sim.apply(join())
    assert 'app "app" serves no page: set spec.page.enabled to true' in refused(sim)
    sim.edit(page={"enabled": True})
    assert 'app "app" has no driver; see streamapp status app' in refused(sim)


@ON_REAL_SERVER
def test_a_port_that_is_taken_is_named(sim: OperatorSim, kubelet: ForwardingKubelet) -> None:
    assert f"port {kubelet.port}: " in refused(sim, "--port", str(kubelet.port))


@contextmanager
def apps_served(sim: OperatorSim, folder: Path, user: str = "admin") -> Iterator[str]:
    """`streamapp page` without an app, and the address that it says."""
    words = [STREAMAPP, "page", "--no-open", *sim.cluster_options(user)]
    with Child(words, folder / "apps.log", dict(os.environ)) as child:
        until(lambda: "until Ctrl-C" in child.said(), SECONDS, child)
        said = re.search(r"page of the apps of (\S+) at (http://127\.0\.0\.1:\d+/apps/)", child.said())
        assert said is not None
        assert said[1] == sim.namespace
        url = said[2]
        yield url
        child.signal(SIGINT)
        assert child.wait(SECONDS) == 0
        assert "Traceback" not in child.said()


@ON_REAL_SERVER
def test_without_an_app_the_page_has_all_that_the_user_may_list(sim: OperatorSim, tmp_path: Path) -> None:
    sim.bring_up(join())
    sim.report(progress=Progress(LAG))
    sim.settle()
    with apps_served(sim, tmp_path) as url:
        assert b"apps_page.js" in fetched(url)
        (row,) = json.loads(fetched(f"{url}data"))["apps"]
        assert (row["name"], row["phase"], row["attention"], row["lag"]) == ("app", "Running", "running", LAG)
        details = json.loads(fetched(f"{url}app?namespace={sim.namespace}&name=app"))
        assert ["driver", "app-driver-1"] in details["facts"]


@ON_REAL_SERVER
def test_a_request_for_another_host_gets_nothing(sim: OperatorSim, tmp_path: Path) -> None:
    with apps_served(sim, tmp_path) as url, pytest.raises(HTTPError, match="403"):
        fetched(Request(f"{url}data", headers={"Host": "evil.example"}))  # noqa: S310 - the same


@ON_REAL_SERVER
def test_somebody_who_may_list_nothing_gets_one_line(sim: OperatorSim, api_server: ApiServer) -> None:
    where = ["--namespace", sim.namespace, "--kubeconfig", str(api_server.kubeconfig("nobody"))]
    words = [STREAMAPP, "page", "--no-open", *where]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert (done.returncode, done.stdout) == (1, "")
    assert 'cannot list resource "streamapps"' in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.usefixtures("process")
def test_all_namespaces_and_an_app_are_not_mixed() -> None:
    done = subprocess.run([STREAMAPP, "page", "app", "-A"], capture_output=True, text=True, check=False)
    assert (done.returncode, "leave out APP and --namespace" in done.stderr) == (2, True)

"""`streamapp top` of a cluster: a real API server, a played node, and pages as drivers serve them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamapp.protocol.driver_report import DriverState, Progress
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.fault_proxy import proxied
from tests.harness.api_server.forwarding_kubelet import ForwardingKubelet
from tests.harness.api_server.granted_rights import grant_apps, user
from tests.harness.api_server.played_node import played_node
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import BEGAN, WatchedRun, page_served, reports, running
from tests.harness.graphs.shop_apps import shop
from tests.harness.machine.terminal_process import TerminalProcess, terminal_process
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

STREAMAPP = str(Path(sys.executable).with_name("streamapp"))
SECONDS = 60.0
LAG = 4_096  # as drivers report it: a power of two


def command(sim: OperatorSim, *words: str, user: str = "admin", everywhere: bool = False) -> list[str]:
    scope = ["-A"] if everywhere else ["--namespace", sim.namespace]
    return [STREAMAPP, "top", *words, *scope, "--kubeconfig", sim.kubeconfig(user)]


def once(sim: OperatorSim, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    given = command(sim, *words, **options)
    return subprocess.run(given, capture_output=True, text=True, check=False, timeout=SECONDS)


def document(sim: OperatorSim, *words: str, **options: Any) -> Any:
    done = once(sim, *words, "-o", "json", **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def figures(sim: OperatorSim, name: str = "app") -> dict[str, Any]:
    (app,) = [app for app in document(sim)["apps"] if app["name"] == name]
    return dict(app)


@pytest.fixture
def kubelet(sim: OperatorSim, api_server: ApiServer) -> Iterator[ForwardingKubelet]:
    """That of the node where the driver of an app with a page runs; the page is not there yet."""
    node = f"node-of-{sim.namespace}"
    with ForwardingKubelet(api_server) as played, played_node(api_server, node, played.port):
        sim.apply(join(page={"enabled": True}))
        sim.settle()
        sim.begin(node=node)
        sim.report(progress=Progress(LAG))
        sim.settle()
        yield played


def driver_page(lag: int = 700) -> AbstractContextManager[str]:
    """A page as a driver serves it, of which every figure is known."""
    run = WatchedRun()
    app = running(shop(3), sizes={"users": (10, 5_000)})
    run.recorder.runs(app)
    watermarks = {"views": int((BEGAN + 40 - 90) * 1000)}
    counted = [("rowsOut", "enriched", 40)]
    one = batch(given={"views": 100}, lags={"views": lag}, counted=counted, watermarks=watermarks)
    run.batches(replace(one, reports=(*one.reports, *reports(app))), count=20)
    return page_served(run.recorder)


def port(url: str) -> int:
    return int(url.split(":")[2].split("/", maxsplit=1)[0])


def cells(lines: str) -> list[list[str]]:
    return [line.split() for line in lines.splitlines()]


@ON_REAL_SERVER
def test_an_app_without_a_page_is_shown_by_its_resource_and_its_drivers_report(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(progress=Progress(LAG))
    sim.settle()
    head, row = cells(once(sim).stdout)
    shown = dict(zip(head, row, strict=True))
    age = shown.pop("AGE")
    assert shown == {
        "NAME": "app",
        "PHASE": "Running",
        "READY": "True",
        "GEN": "1",
        "PROC": "2",
        "TASKS": "8",
        "IN/S": "-",
        "OUT/S": "-",
        "LAG": f"<={LAG}",
        "BEHIND": "-",
        "RESTARTS": "0",
    }
    assert age.endswith("s")
    app = figures(sim)
    assert (app["lag"], app["lagIsBound"], app["run"]) == (LAG, True, None)
    assert 0 <= app["age"] < SECONDS


@ON_REAL_SERVER
def test_the_page_of_an_app_adds_rates_the_exact_lag_and_watermarks(
    sim: OperatorSim, kubelet: ForwardingKubelet
) -> None:
    with driver_page() as url:
        kubelet.ports["app-driver-1"] = port(url)
        app = figures(sim)
        assert (app["rowsIn"], app["rowsOut"], app["lag"], app["lagIsBound"]) == (50, 20, 700, False)
        assert (app["behind"], app["phase"], app["ready"]) == (90, "Running", "True")
        detailed = cells(once(sim, "app").stdout)
    assert ["views", "input", "8", "50", "-", "700", "90s"] in detailed
    assert ["users", "table", "~10", "5.0", "kB"] in detailed
    assert [line[2] for line in detailed if line[:1] == ["Partition"]] == ["processor-0"] * 4


@ON_REAL_SERVER
def test_a_driver_that_does_not_answer_leaves_what_its_report_says(
    sim: OperatorSim, kubelet: ForwardingKubelet
) -> None:
    done = once(sim)
    assert done.returncode == 0
    assert f"<={LAG}" in cells(done.stdout)[1]
    reason = "failed to connect to localhost:9405 inside namespace"
    assert done.stderr == f"not read: the page of app: {reason}\n"
    assert document(sim)["notRead"] == [f"the page of app: {reason}"]


@ON_REAL_SERVER
@pytest.mark.parametrize(("code", "phase"), [(0, "Completed"), (3, "BackingOff")])
def test_a_driver_that_has_ended_is_not_asked_for_its_page(
    sim: OperatorSim, kubelet: ForwardingKubelet, code: int, phase: str
) -> None:
    assert not kubelet.ports
    sim.end(code=code)
    sim.settle()
    shown = document(sim)
    assert [app["phase"] for app in shown["apps"]] == [phase]
    assert (shown["notRead"], shown["apps"][0]["lag"]) == ([], None)


@ON_REAL_SERVER
def test_restarts_and_a_generation_that_does_not_run_yet_are_shown(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.fail_driver(60)
    sim.edit(serviceAccountName="admin")
    sim.settle()
    head, row = cells(once(sim).stdout)
    shown = dict(zip(head, row, strict=True))
    assert (shown["GEN"], shown["RESTARTS"]) == ("1/2", "1")
    assert shown["LAG"] == "-", "the report is of the driver before"


@ON_REAL_SERVER
def test_all_apps_of_a_namespace_or_of_all_are_listed_by_lag(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.report(progress=Progress(LAG))
    sim.apply(join("other", suspend=True))
    sim.settle("other")
    sim.apply(join("unseen"))
    assert [(app["name"], app["phase"]) for app in document(sim)["apps"]] == [
        ("app", "Running"),
        ("other", "Suspended"),
        ("unseen", "Unknown"),
    ]
    assert [app["name"] for app in document(sim, "--sort", "phase")["apps"]] == ["app", "other", "unseen"]
    everywhere = once(sim, everywhere=True).stdout
    assert everywhere.startswith("NAMESPACE")
    assert [sim.namespace, "app", "Running"] in [line[:3] for line in cells(everywhere)]


@ON_REAL_SERVER
def test_no_app_at_all_leaves_the_head_alone(sim: OperatorSim) -> None:
    done = once(sim)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)


@ON_REAL_SERVER
def test_an_app_that_is_not_there_is_refused(sim: OperatorSim) -> None:
    done = once(sim, "app")
    assert (done.returncode, done.stdout) == (1, "")
    assert f'there is no StreamApp "app" in namespace {sim.namespace}' in done.stderr


@ON_REAL_SERVER
def test_what_may_not_be_read_is_said_and_the_rest_is_shown(sim: OperatorSim, api_server: ApiServer) -> None:
    sim.bring_up(join())
    grant_apps(api_server, sim.namespace, user("nobody"), "get")
    done = once(sim, "app", user="nobody")
    assert (done.returncode, cells(done.stdout)[1][:3]) == (0, ["app", "Running", "True"])
    assert done.stderr.startswith("not read: the drivers' reports: ")
    listed = once(sim, user="nobody")
    assert (listed.returncode, "forbidden" in listed.stderr) == (1, True)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("words", [["app", "-A"], ["-A", "-n", "shop"]])
def test_all_namespaces_and_one_app_or_namespace_are_not_mixed(words: list[str]) -> None:
    done = subprocess.run([STREAMAPP, "top", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, "-A is about all apps" in done.stderr) == (2, True)


def at_terminal(sim: OperatorSim, *words: str) -> AbstractContextManager[TerminalProcess]:
    return terminal_process(command(sim, *words, "--interval", "0.5"), size=(80, 24))


@ON_REAL_SERVER
def test_apps_come_and_go_while_the_table_is_shown(sim: OperatorSim) -> None:
    sim.bring_up(join())
    with at_terminal(sim) as terminal:
        terminal.until_frame(lambda frame: "Running" in frame and "1 app" in frame)
        sim.apply(join("other"))
        terminal.until_frame(lambda frame: "other" in frame and "2 apps" in frame)
        sim.server.ask("DELETE", sim._path("streamapps", "other", "apis/streamapp.dev/v1alpha1"))
        frame = terminal.until_frame(lambda frame: "other" not in frame)
        assert max(map(len, frame.splitlines())) <= 80
        assert terminal.press_ctrl_c() == 0


@ON_REAL_SERVER
def test_the_app_that_is_shown_may_go_away_and_come_back(sim: OperatorSim) -> None:
    sim.apply(join("other"))
    with at_terminal(sim, "other") as terminal:
        terminal.until_frame(lambda frame: "Unknown" in frame)
        sim.server.ask("DELETE", sim._path("streamapps", "other", "apis/streamapp.dev/v1alpha1"))
        gone = terminal.until_frame(lambda frame: 'there is no StreamApp "other"' in frame)
        assert ("0 apps" in gone, "Unknown" in gone) == (True, False)
        sim.apply(join("other"))
        terminal.until_frame(lambda frame: "there is no" not in frame)
        assert terminal.press_ctrl_c() == 0


@ON_REAL_SERVER
def test_a_lag_that_changes_is_shown_at_the_next_refresh(sim: OperatorSim) -> None:
    sim.bring_up(join())
    with at_terminal(sim, "app") as terminal:
        terminal.until_frame(lambda frame: "Running" in frame)
        sim.report(DriverState.RUNNING, progress=Progress(8))
        terminal.until_frame(lambda frame: "<=8" in frame)
        assert terminal.press_ctrl_c() == 0


@ON_REAL_SERVER
def test_an_api_server_that_is_away_for_a_while_leaves_the_last_table(
    sim: OperatorSim, api_server: ApiServer
) -> None:
    sim.bring_up(join())
    with proxied(api_server) as proxy:
        where = ["--namespace", sim.namespace, "--kubeconfig", str(api_server.kubeconfig(url=proxy.url))]
        with terminal_process([STREAMAPP, "top", "--interval", "0.5", *where], size=(100, 24)) as terminal:
            terminal.until_frame(lambda frame: "Running" in frame)
            proxy.fail("GET", "/streamapps", 500, times=3)
            away = terminal.until_frame(lambda frame: "500" in frame)
            assert "Running" in away
            terminal.until_frame(lambda frame: "500" not in frame)
            assert terminal.press_ctrl_c() == 0

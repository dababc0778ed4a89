"""`streamapp state get` and `scan` of an app on a cluster: by a real API server, to a run that answers."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.forwarding_kubelet import ForwardingKubelet
from tests.harness.api_server.played_node import played_node
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join
from tests.harness.runs.app_runs import app, inputs, write_all
from tests.harness.runs.changing_run import Outside, idle

pytestmark = ON_REAL_SERVER

STREAMAPP = str(Path(sys.executable).with_name("streamapp"))


def state(sim: OperatorSim, verb: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [STREAMAPP, "state", verb, "app", *words, *sim.cluster_options()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=os.environ)


@contextmanager
def answering(folder: Path) -> Iterator[int]:
    """The port at which a run answers queries of its state."""
    system = EmbeddedSystem(folder / "data")
    write_all(system, "events", inputs([{"user": f"u{n}", "n": n} for n in range(9)], "user"), 2)
    system.close()
    totals = {"name": "totals", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}}
    events = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
    run = Outside.start(folder, app(totals, streams=[events]), 1, "--state-queries")
    try:
        run.until(idle)
        (url,) = [said["url"] for said in run.said if said.get("event") == "stateQueries"]
        yield int(url.split(":")[2].split("/")[0])
    finally:
        run.close()


@pytest.fixture
def kubelet(sim: OperatorSim, api_server: ApiServer) -> Iterator[ForwardingKubelet]:
    """That of the node where the driver of an app runs that answers queries."""
    node = f"node-of-{sim.namespace}"
    with ForwardingKubelet(api_server) as played, played_node(api_server, node, played.port):
        sim.apply(join(stateQueries={"enabled": True}))
        sim.settle()
        sim.begin(node=node)
        yield played


def test_an_app_on_a_cluster_is_asked_by_its_name(
    sim: OperatorSim, kubelet: ForwardingKubelet, tmp_path: Path
) -> None:
    with answering(tmp_path) as port:
        kubelet.ports["app-driver-1"] = port
        rows = state(sim, "get", "totals", "u3", "u8")
        assert (rows.returncode, rows.stderr) == (0, "")
        assert [line.split()[-2:] for line in rows.stdout.splitlines()[1:]] == [["u3", "3"], ["u8", "8"]]
        assert len(state(sim, "scan", "totals", "-o", "json").stdout.splitlines()) == 9
        unknown = state(sim, "scan", "total")
        assert (unknown.returncode, 'did you mean "totals"?' in unknown.stderr) == (1, True)


def test_a_driver_that_does_not_answer_is_named(sim: OperatorSim, kubelet: ForwardingKubelet) -> None:
    assert kubelet.ports == {}
    nobody = state(sim, "get", "totals", "u3")
    assert nobody.returncode == 1
    assert "failed to connect to localhost:9405" in nobody.stderr


def test_what_is_missing_is_said_before_anything_is_forwarded(sim: OperatorSim) -> None:
    assert 'there is no StreamApp "app"' in state(sim, "get", "totals", "u3").stderr
    sim.apply(join())
    refusal = state(sim, "scan", "totals").stderr
    assert 'app "app" answers no queries of its state: set spec.stateQueries.enabled to true' in refusal
    sim.edit(stateQueries={"enabled": True})
    assert 'app "app" has no driver; see streamapp status app' in state(sim, "scan", "totals").stderr

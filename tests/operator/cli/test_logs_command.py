"""`streamapp logs` through a real API server, which asks the kubelet of the pod's node: that is the test."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from streamapp_operator.cli.logs import logs
from tests.harness.api_server.api_server import ApiServer
from tests.harness.api_server.played_node import node_with_kubelet
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join


class Kubelet(BaseHTTPRequestHandler):
    """Knows three lines of every container."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        pod, container = url.path.split("/")[-2:]
        lines = [f"{pod} {container} {number}\n" for number in range(3)]
        if asked.get("follow") == "true":
            lines.append("and goes on\n")
        self.send_response(200)
        self.end_headers()
        for line in lines[-int(asked.get("tailLines", len(lines))) :]:
            self.wfile.write(line.encode())
            self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def told(sim: OperatorSim, *args: str) -> Result:
    return CliRunner().invoke(logs, ["app", *args, *sim.cluster_options()])


@pytest.fixture
def run(sim: OperatorSim, api_server: ApiServer) -> Iterator[OperatorSim]:
    """An app with its second driver and an executor."""
    name = f"node-of-{sim.namespace}"
    with node_with_kubelet(api_server, name, Kubelet):
        sim.apply(join())
        sim.settle()
        sim.begin(node=name)
        sim.fail_driver(60)
        sim.begin(node=name)
        sim.executor(7, node=name)
        yield sim


@ON_REAL_SERVER
def test_they_are_the_newest_drivers(run: OperatorSim) -> None:
    result = told(run)
    assert result.output == "".join(f"app-driver-2 driver {number}\n" for number in range(3))
    assert result.exit_code == 0


@ON_REAL_SERVER
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--tail", "1"], "app-driver-2 driver 2\n"),
        (["--previous", "--tail", "1"], "app-driver-1 driver 2\n"),
        (["--executor", "7", "--tail", "1"], "app-exec-7 spark-kubernetes-executor 2\n"),
        (["--follow", "--tail", "2"], "app-driver-2 driver 2\nand goes on\n"),
    ],
)
def test_they_are_those_that_are_asked_for(run: OperatorSim, asked: list[str], said: str) -> None:
    assert told(run, *asked).output == said


@ON_REAL_SERVER
def test_an_executor_that_is_not_there_is_named(run: OperatorSim) -> None:
    result = told(run, "--executor", "9")
    assert result.exit_code == 1
    assert 'app "app" has no executor 9' in result.output


@ON_REAL_SERVER
def test_what_the_api_server_says_is_passed_on(sim: OperatorSim) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin(node=f"silent-{sim.namespace}")
    result = told(sim)
    assert result.exit_code == 1
    assert result.output == "Error: no preferred addresses found; known addresses: []\n"

"""Operators as processes, with a reconcile of the tests' own."""

import json
import sys
from pathlib import Path
from time import monotonic
from typing import Any

from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import Child, get, until

CALM = 3.0
"""The election's times where it is not what is tested, in parts of what holds in earnest."""
STILL_SECONDS = 2.0
WRITES = ('verb="create"', 'verb="patch"', 'verb="delete"')


class Operator(Child):
    """A replica, bounded to one namespace (or to several, with commas), with what the table gives it."""

    def __init__(
        self,
        server: ApiServer,
        namespace: str,
        log: Path,
        pace: float = CALM,
        patience: float = 1.0,
        url: str = "",
        module: str = "tests.harness.operator.echo_operator",
        user: str = "operator",
    ) -> None:
        self.name = log.stem
        kubeconfig = server.kubeconfig(user, url)
        command = [sys.executable, "-m", module, str(kubeconfig), namespace]
        super().__init__([*command, self.name, str(pace), str(patience)], log)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.said().splitlines() if line.startswith("{")]

    def port(self, name: str = "port") -> int:
        """The port of probes and metrics, or by this name another one that is logged."""
        until(lambda: any(name in line for line in self.lines()), 30, self)
        return int(next(line[name] for line in self.lines() if name in line))

    def asked(self, path: str) -> tuple[int, str]:
        """What it answers about itself."""
        return get(f"http://127.0.0.1:{self.port()}{path}")

    def measured(self, name: str) -> dict[str, float]:
        """A metric's values, by the text of their labels."""
        found = {}
        for line in self.asked("/metrics")[1].splitlines():
            if line.startswith(name):
                labels, _, value = line.removeprefix(name).rpartition(" ")
                found[labels] = float(value)
        return found

    def writes(self) -> float:
        """All API writes so far, but renewals of the Lease, which are the only updates."""
        calls = self.measured("streamapp_operator_api_calls_total")
        return sum(number for labels, number in calls.items() if any(verb in labels for verb in WRITES))

    def leads(self) -> bool:
        return any(line["message"] == "leading" for line in self.lines())


def settle(operator: Operator, limit: float = 120.0) -> None:
    """Wait until no app has had its turn for two seconds."""
    turns, since = -1.0, monotonic()

    def still() -> bool:
        nonlocal turns, since
        before, turns = turns, sum(operator.measured("streamapp_operator_reconciles_total").values())
        since = since if turns == before else monotonic()
        return monotonic() - since >= STILL_SECONDS

    until(still, limit, operator)


def app(namespace: str, name: str = "app", processors: int = 1) -> dict[str, Any]:
    """A small StreamApp."""
    return {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "processors": processors,
            "systems": [{"name": "main", "embedded": {"path": "./data"}}],
            "streams": [
                {"name": "views", "system": "main", "columns": "a STRING"},
                {"name": "copied", "system": "main"},
            ],
            "operators": [{"name": "out", "sendTo": {"from": "views", "stream": "copied"}}],
        },
    }


def path_of(app: dict[str, Any]) -> str:
    metadata = app["metadata"]
    return f"/apis/streamapp.dev/v1alpha1/namespaces/{metadata['namespace']}/streamapps/{metadata['name']}"


def put(server: ApiServer, app: dict[str, Any]) -> None:
    """Make a StreamApp, or set its processors."""
    path = path_of(app)
    if server.call("GET", path)[0] == 200:
        server.ask("PATCH", path, {"spec": app["spec"]}, "application/merge-patch+json")
    else:
        server.ask("POST", path.rpartition("/")[0], app)


def echoed(server: ApiServer, namespace: str, name: str = "app") -> str | None:
    """What the echo of an app says, if there is one."""
    code, said = server.call("GET", f"/api/v1/namespaces/{namespace}/configmaps/{name}-echo")
    return str(json.loads(said)["data"]["processors"]) if code == 200 else None


def lease(server: ApiServer, namespace: str) -> dict[str, Any]:
    found: dict[str, Any] = server.ask(
        "GET", f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/streamapp-operator"
    )
    return found

"""The kind cluster: made or taken as it is, asked, and removed."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.harness.cluster.cluster_programs import Programs
from tests.harness.cluster.waiting import until

NAME = "streamapp-e2e"
CONFIG = Path(__file__).with_name("kind.yaml")
FORWARD = "forward . /etc/resolv.conf"
_STEADY_ANSWERS, _STEADY_LIMIT = 10, 180.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster that runs."""

    programs: Programs
    kubeconfig: Path
    fresh: bool  # whether it was made just now

    def kubectl(self, *args: str, given: str | None = None, limit: float = 120) -> str:
        """What kubectl wrote, as the administrator."""
        return self.programs.run("kubectl", *self._as_admin(), *args, given=given, limit=limit)

    def helm(self, *args: str, limit: float = 300) -> str:
        """What helm wrote."""
        return self.programs.run("helm", *self._as_admin(), *args, limit=limit)

    def objects(self, kind: str, *args: str) -> list[dict[str, Any]]:
        """Objects of one kind, as they are now."""
        found: list[dict[str, Any]] = json.loads(self.kubectl("get", kind, *args, "-o", "json"))["items"]
        return found

    def workers(self) -> list[str]:
        """The nodes that apps run on."""
        nodes = self.objects("nodes", "-l", "!node-role.kubernetes.io/control-plane")
        return sorted(node["metadata"]["name"] for node in nodes)

    def load(self, *images: str) -> None:
        """Put images onto the nodes."""
        self.programs.run("kind", "load", "docker-image", *images, "--name", NAME, limit=1800)

    def await_api_server(self) -> None:
        """Return when the API server has answered for some seconds: it may start again while images load."""
        answers = 0

        def unready() -> list[str]:
            nonlocal answers
            ready = self.programs.tried("kubectl", *self._as_admin(), "get", "--raw", "/readyz")
            answers = answers + 1 if ready.returncode == 0 else 0
            return [] if answers == _STEADY_ANSWERS else [ready.stderr or f"it has answered {answers} times"]

        until(unready, _STEADY_LIMIT)

    def _as_admin(self) -> list[str]:
        return [f"--kubeconfig={self.kubeconfig}"]


def cluster(programs: Programs, folder: Path) -> Cluster:
    """The cluster of the tests: one that was kept, or a new one."""
    kubeconfig = _kubeconfig(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if NAME in programs.run("kind", "get", "clusters").split():
        programs.run("kind", "export", "kubeconfig", "--name", NAME, "--kubeconfig", kubeconfig)
        return Cluster(programs, kubeconfig, fresh=False)
    image = os.environ.get("KIND_NODE_IMAGE")
    chosen = ("--image", image) if image else ()
    command = ("kind", "create", "cluster", "--name", NAME, "--config", CONFIG, "--kubeconfig", kubeconfig)
    programs.run(*command, *chosen, limit=600)
    made = Cluster(programs, kubeconfig, fresh=True)
    made.kubectl("wait", "node", "--all", "--for=condition=Ready", "--timeout=240s", limit=300)
    _keep_name_servers(made)
    if os.environ.get("E2E_OFFLINE") == "1":
        _ask_nobody_outside(made)
    return made


def remove(programs: Programs, folder: Path) -> None:
    """Remove the cluster, if there is one."""
    programs.run("kind", "delete", "cluster", "--name", NAME, "--kubeconfig", _kubeconfig(folder))


def _kubeconfig(folder: Path) -> Path:
    return folder / "kubeconfig"


def _keep_name_servers(made: Cluster) -> None:
    """Name servers stay beside Kafka, so that a node that fails takes nothing with it but what is of apps."""
    place = {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}
    patch = json.dumps({"spec": {"template": {"spec": place}}})
    made.kubectl("-n", "kube-system", "patch", "deployment", "coredns", "-p", patch)
    _await_name_servers(made)


def _await_name_servers(made: Cluster) -> None:
    status = ("rollout", "status", "deployment/coredns", "--timeout=240s")
    made.kubectl("-n", "kube-system", *status, limit=300)


def _ask_nobody_outside(made: Cluster) -> None:
    """Where nothing outside can be reached, a name there fails at once instead of after seconds."""
    system = ("-n", "kube-system")
    kept = json.loads(made.kubectl(*system, "get", "configmap", "coredns", "-o", "json"))
    lines = kept["data"]["Corefile"].splitlines()
    begin = next(place for place, line in enumerate(lines) if line.strip().startswith(FORWARD))
    end = next(place for place in range(begin, len(lines)) if lines[place].strip() == "}")
    patch = {"data": {"Corefile": "\n".join(lines[:begin] + lines[end + 1 :]) + "\n"}}
    made.kubectl(*system, "patch", "configmap", "coredns", "--type=merge", "-p", json.dumps(patch))
    made.kubectl(*system, "rollout", "restart", "deployment/coredns")
    _await_name_servers(made)

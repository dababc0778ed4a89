"""StreamApp as it is installed by its chart, and what the operator says of itself."""

from dataclasses import dataclass
from typing import Any

from tests.harness.cluster.cluster_images import VERSION
from tests.harness.cluster.kind_cluster import Cluster

NAMESPACE = "streamapp-system"
CHART = "charts/streamapp"
HOST_PATH_ROOT = "/var/lib/streamapp-e2e"
VALUES = {
    "image.tag": VERSION,
    "runtimeImage.tag": VERSION,
    "apps.hostPathRoots[0]": HOST_PATH_ROOT,
    # Nodes of a laptop: what apps ask for is what they use when there is little to do.
    "apps.driverRequests.cpu": "100m",
    "apps.driverRequests.memory": "1200Mi",
    "apps.executorRequests.cpu": "100m",
    "apps.executorRequests.memory": "1Gi",
}


@dataclass(frozen=True, slots=True)
class Installation:
    """One release of the chart."""

    cluster: Cluster
    release: str = "streamapp"
    namespace: str = NAMESPACE
    operator_class: str = ""  # one with a class is beside the first, and has its definition
    spaces: tuple[str, ...] = ()  # that it looks after; all, if none is named

    def install(self, **values: str) -> None:
        """Install it, or upgrade what is there, and wait until the operator is ready."""
        given = {
            **VALUES,
            **self._bounds(),
            **{key.replace("__", "."): value for key, value in values.items()},
        }
        settings = [part for key, value in given.items() for part in ("--set", f"{key}={value}")]
        self.cluster.helm(
            *("upgrade", "--install", self.release, CHART, "-n", self.namespace, "--create-namespace"),
            *(*settings, "--wait", "--timeout=240s"),
        )

    def uninstall(self) -> None:
        """Take it away again."""
        self.cluster.helm("uninstall", self.release, "-n", self.namespace, "--wait", "--timeout=180s")

    def pods(self) -> list[dict[str, Any]]:
        """The operator's pods."""
        labels = f"app.kubernetes.io/name=streamapp-operator,app.kubernetes.io/instance={self.release}"
        return self.cluster.objects("pods", "-n", self.namespace, "-l", labels)

    def restart(self) -> None:
        """Have other pods run the image that the nodes have now."""
        self.cluster.kubectl("rollout", "restart", *self._deployment())
        self.await_ready()

    def await_ready(self) -> None:
        """Return when all of the operator's pods are ready."""
        self.cluster.kubectl("rollout", "status", *self._deployment(), "--timeout=240s", limit=300)

    def kill(self) -> None:
        """End the operator's process as a crash would, without a word of warning; another pod begins."""
        for pod in self.pods():
            name, node = pod["metadata"]["name"], pod["spec"]["nodeName"]
            for container in pod["status"].get("containerStatuses", ()):
                number = container.get("containerID", "").removeprefix("containerd://")
                # One that has not begun, or ended already, cannot be killed.
                task = ("ctr", "-n", "k8s.io", "tasks", "kill", "-s", "SIGKILL", number)
                self.cluster.programs.tried("docker", "exec", node, *task)
            # The same pod would wait longer after each crash.
            self.cluster.kubectl("-n", self.namespace, "delete", "pod", name, "--now", "--wait=false")

    def _deployment(self) -> tuple[str, ...]:
        return "-n", self.namespace, "deployment", "-l", f"app.kubernetes.io/instance={self.release}"

    def _bounds(self) -> dict[str, str]:
        bounds = {f"namespaces[{place}]": name for place, name in enumerate(self.spaces)}
        if self.operator_class:
            bounds |= {"operatorClass": self.operator_class, "crds.install": "false"}
        return bounds

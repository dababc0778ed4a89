"""A cluster to try examples on: kind's, with StreamApp and a Kafka broker, or one that has both already."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

REPOSITORY = Path(__file__).parents[1]
KAFKA_MANIFEST = "tests/e2e/kafka/kafka.yaml"
KAFKA_IMAGE = "streamapp-kafka:e2e"
BROKER: Final = "kafka.kafka:9092"
"""The broker's address for pods of the cluster."""
NODE_IMAGE: Final = "KIND_NODE_IMAGE"
"""The variable that names the image of kind's nodes, where kind shall not choose it."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class TrialCluster:
    """A cluster by its kubectl context."""

    context: str
    say: Say

    def kubectl(self, *arguments: str, lines: str | None = None, echo: bool = True) -> str:
        """What kubectl printed."""
        return _run(("kubectl", "--context", self.context, *arguments), self.say if echo else None, lines)

    def on_broker(self, *command: str, lines: str | None = None, echo: bool = True) -> str:
        """What a command printed in the broker's pod, which has `streamapp` and Kafka's `kafka-topics`."""
        return self.kubectl(*("-n", "kafka", "exec", "-i", "kafka-0", "--"), *command, lines=lines, echo=echo)

    def install(self) -> None:
        """Install StreamApp by its chart, and a Kafka broker; what is there already is upgraded."""
        chart = ("upgrade", "--install", "streamapp", "charts/streamapp", "--namespace", "streamapp-system")
        helm = ("helm", "--kube-context", self.context, *chart, "--create-namespace", "--wait")
        _run(helm, self.say)
        self.kubectl("apply", "--server-side", "-f", KAFKA_MANIFEST)
        self.kubectl("-n", "kafka", "rollout", "status", "statefulset/kafka", "--timeout=4m")


def existing_cluster(context: str, say: Say) -> TrialCluster:
    """A cluster that has StreamApp and the broker."""
    _require("kubectl")
    return TrialCluster(context, say)


def kind_cluster(name: str, build: bool, say: Say) -> TrialCluster:
    """The kind cluster of this name: a new one with images of this checkout, or the one that is there.

    Images are built for a new cluster, and again where that is asked for.
    """
    _require("docker", "kind", "kubectl", "helm", "make", "mvn")
    cluster = TrialCluster(f"kind-{name}", say)
    is_new = name not in _run(("kind", "get", "clusters")).split()
    if is_new or build:
        release = version("streamapp")
        _run(("make", "images", f"VERSION={release}"), say)
        _run(("make", "kafka-image", f"VERSION={release}"), say)
        if is_new:
            node_image = os.environ.get(NODE_IMAGE)
            chosen = ("--image", node_image) if node_image else ()
            _run(("kind", "create", "cluster", "--name", name, "--wait", "4m", *chosen), say)
        images = [f"streamapp-{part}:{release}" for part in ("operator", "runtime")]
        _run(("kind", "load", "docker-image", "--name", name, *images, KAFKA_IMAGE), say)
    cluster.install()
    if build and not is_new:
        for workload in (("-n", "streamapp-system", "deployment"), ("-n", "kafka", "statefulset/kafka")):
            cluster.kubectl("rollout", "restart", *workload)
            cluster.kubectl("rollout", "status", *workload, "--timeout=4m")
    return cluster


def _require(*programs: str) -> None:
    if missing := [program for program in programs if shutil.which(program) is None]:
        raise SystemExit(f"this needs {', '.join(missing)} on the PATH")


def _run(command: Sequence[str], say: Say | None = None, lines: str | None = None) -> str:
    """What a command printed; the example ends with what it complained of where it fails."""
    if say is not None:
        say(f"$ {shlex.join(command)}")
    done = subprocess.run(  # noqa: S603 - the commands of the page
        command, cwd=REPOSITORY, input=lines, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr or done.stdout}")
    return done.stdout

"""The images that the cluster runs: built by `make images`, as a user builds them, and put onto the nodes."""

import os
import shlex

from tests.e2e.kafka.image import build_kafka
from tests.harness.cluster.kind_cluster import Cluster

VERSION = "e2e"
OPERATOR, RUNTIME, KAFKA = (f"streamapp-{part}:{VERSION}" for part in ("operator", "runtime", "kafka"))


def build_flags() -> list[str]:
    """What `docker build` is told on this machine."""
    return shlex.split(os.environ.get("DOCKER_BUILD_FLAGS", ""))


def build_and_load(cluster: Cluster) -> None:
    """Build all of them, and load all of them: one archive, in which what they share is there once."""
    cluster.programs.run("make", "images", f"VERSION={VERSION}", limit=1800)
    build_kafka(KAFKA, RUNTIME, build_flags())
    cluster.load(OPERATOR, RUNTIME, KAFKA)

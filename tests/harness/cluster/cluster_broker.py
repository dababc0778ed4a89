"""The brokers in the cluster: started once, and reached by the tests as any client outside would."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.harness.cluster.app_traffic import BROKER, OTHER_BROKER
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until
from tests.harness.kafka.broker import answers

MANIFEST = Path(__file__).parents[2] / "e2e" / "kafka" / "kafka.yaml"
OTHER = "shop"
"""The namespace of the second broker."""
_OF_OTHER = {
    "metadata:\n  name: kafka": f"metadata:\n  name: {OTHER}",
    "namespace: kafka": f"namespace: {OTHER}",
    "kafka.kafka:": f"kafka.{OTHER}:",
    "30092": "30093",
    "emptyDir: {}": "persistentVolumeClaim: {claimName: data}",
}
_CLAIM = f"""
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: {OTHER}}}
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
"""


def start_broker(cluster: Cluster) -> None:
    """Have it run, and wait until it can be reached from here."""
    _apply(cluster, MANIFEST.read_text("utf-8"))
    _await_answer(cluster, "kafka", BROKER)


def start_other_broker(cluster: Cluster) -> None:
    """Have a second one run, on a volume that outlives its pod."""
    manifest = MANIFEST.read_text("utf-8")
    for part, replacement in _OF_OTHER.items():
        manifest = manifest.replace(part, replacement)
    _apply(cluster, manifest + _CLAIM)
    _await_answer(cluster, OTHER, OTHER_BROKER)


@contextmanager
def other_broker_away(cluster: Cluster) -> Iterator[None]:
    """The second broker is stopped and its pod removed, as long as this lasts."""
    scale = ("-n", OTHER, "scale", "statefulset/kafka")
    cluster.kubectl(*scale, "--replicas=0")
    cluster.kubectl("-n", OTHER, "wait", "--for=delete", "pod/kafka-0", "--timeout=120s", limit=150)
    try:
        yield
    finally:
        cluster.kubectl(*scale, "--replicas=1")
        _await_answer(cluster, OTHER, OTHER_BROKER)


def _apply(cluster: Cluster, manifest: str) -> None:
    cluster.kubectl("apply", "--server-side", "-f", "-", given=manifest)


def _await_answer(cluster: Cluster, namespace: str, address: str) -> None:
    cluster.kubectl("-n", namespace, "rollout", "status", "statefulset/kafka", "--timeout=240s", limit=300)
    until(lambda: [] if answers(int(address.rpartition(":")[2])) else [f"nobody answers at {address}"], 60)


def kill_process_of_broker(cluster: Cluster) -> None:
    """End its process by SIGKILL, from its node: a container's first process takes none from inside."""
    node = cluster.objects("pods", "-n", "kafka", "-l", "app=kafka")[0]["spec"]["nodeName"]
    cluster.programs.run("docker", "exec", node, "pkill", "-KILL", "-f", "kafka.Kafka")


def grow(cluster: Cluster, topic: str, partitions: int) -> None:
    """Give a topic more partitions by Kafka's own command, as an administrator would."""
    command = ("kafka-topics", "--bootstrap-server", "localhost:9092", "--alter", "--topic", topic)
    cluster.kubectl("-n", "kafka", "exec", "kafka-0", "--", *command, "--partitions", str(partitions))

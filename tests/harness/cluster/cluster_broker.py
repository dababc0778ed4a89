"""The broker in the cluster: started once, and reached by the tests as any client outside would."""

from pathlib import Path

from tests.harness.cluster.app_traffic import BROKER
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until
from tests.harness.kafka.broker import answers

MANIFEST = Path(__file__).parents[2] / "e2e" / "kafka" / "kafka.yaml"


def start_broker(cluster: Cluster) -> None:
    """Have it run, and wait until it can be reached from here."""
    cluster.kubectl("apply", "--server-side", "-f", str(MANIFEST))
    cluster.kubectl("-n", "kafka", "rollout", "status", "statefulset/kafka", "--timeout=240s", limit=300)
    until(lambda: [] if answers(int(BROKER.rpartition(":")[2])) else [f"nobody answers at {BROKER}"], 60)


def kill_process_of_broker(cluster: Cluster) -> None:
    """End its process by SIGKILL, from its node: a container's first process takes none from inside."""
    node = cluster.objects("pods", "-n", "kafka", "-l", "app=kafka")[0]["spec"]["nodeName"]
    cluster.programs.run("docker", "exec", node, "pkill", "-KILL", "-f", "kafka.Kafka")


def grow(cluster: Cluster, topic: str, partitions: int) -> None:
    """Give a topic more partitions by Kafka's own command, as an administrator would."""
    command = ("kafka-topics", "--bootstrap-server", "localhost:9092", "--alter", "--topic", topic)
    cluster.kubectl("-n", "kafka", "exec", "kafka-0", "--", *command, "--partitions", str(partitions))

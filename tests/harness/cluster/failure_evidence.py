"""What is kept of a test that failed: all that its namespace, the operator and the nodes say."""

from pathlib import Path

from tests.harness.cluster.chart_installation import NAMESPACE
from tests.harness.cluster.cluster_programs import ProgramError
from tests.harness.cluster.kind_cluster import Cluster

KINDS = "streamapps,pods,services,configmaps,statefulsets,persistentvolumeclaims,events"


def collect(cluster: Cluster, namespace: str, folder: Path) -> None:
    """Write down all that is there, a file for each question."""
    folder.mkdir(parents=True, exist_ok=True)
    asked = {
        "objects.yaml": ("-n", namespace, "get", KINDS, "-o", "yaml"),
        "overview.txt": ("-n", namespace, "get", KINDS, "-o", "wide"),
        "events.txt": ("-n", namespace, "get", "events", "--sort-by=.lastTimestamp"),
        "pods.txt": ("-n", namespace, "describe", "pods"),
        "nodes.txt": ("describe", "nodes"),
        "operator.txt": ("-n", NAMESPACE, "describe", "pods"),
    }
    for file, question in asked.items():
        (folder / file).write_text(_answer(cluster, *question), encoding="utf-8")
    for where in (namespace, NAMESPACE):
        for pod in _answer(cluster, "-n", where, "get", "pods", "-o", "name").split():
            name = pod.rpartition("/")[2]
            said = _answer(cluster, "-n", where, "logs", name, "--all-containers", "--prefix", "--tail=-1")
            (folder / f"log-{name}.txt").write_text(said, encoding="utf-8")


def _answer(cluster: Cluster, *question: str) -> str:
    try:
        return cluster.kubectl(*question)
    except ProgramError as error:
        return f"{error}\n"

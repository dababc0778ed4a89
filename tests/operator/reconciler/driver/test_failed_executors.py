"""Executors that fail one after the other: Spark replaces them, and does not end the app for their number."""

from pathlib import Path

import pytest

from tests.harness.machine.processes import Child, until
from tests.harness.operator.driver_kubelet import asking_for_executors
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

pytestmark = ON_REAL_SERVER

PATIENCE_SECONDS = 90.0
LIMIT = "spark.executor.maxNumFailures"


def _executors(sim: OperatorSim) -> list[str]:
    return [name for name in sim.names("pods") if name != "app-driver-1"]


def _java(spark: Child) -> bool:
    """Whether the driver's JVM lives."""
    children = Path(f"/proc/{spark.pid}/task/{spark.pid}/children").read_text(encoding="utf-8").split()
    states = [Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2] for pid in children]
    return any(not state.startswith(" Z") for state in states)


def _fail_executor(sim: OperatorSim, spark: Child) -> None:
    """Have the executor's container end as a crash does, and wait until Spark has replaced the pod."""
    until(lambda: len(_executors(sim)) == 1, PATIENCE_SECONDS, spark)
    (name,) = _executors(sim)
    ended = {"exitCode": 137, "reason": "OOMKilled"}
    container = {
        "name": "spark-kubernetes-executor",
        "image": "",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": {"terminated": ended},
    }
    path = f"/api/v1/namespaces/{sim.namespace}/pods/{name}/status"
    status = {"phase": "Failed", "containerStatuses": [container]}
    sim.server.ask("PATCH", path, {"status": status}, "application/merge-patch+json")
    until(lambda: name not in _executors(sim), PATIENCE_SECONDS)


def test_ten_failed_executors_of_one_driver_are_replaced(sim: OperatorSim, tmp_path: Path) -> None:
    sim.apply(join())
    sim.settle()
    sim.begin()
    with asking_for_executors(sim, tmp_path, 1) as spark:
        for _ in range(10):
            _fail_executor(sim, spark)
        until(lambda: len(_executors(sim)) == 1, PATIENCE_SECONDS, spark)
        assert _java(spark)


@pytest.mark.nightly
def test_an_app_may_set_a_limit_at_which_spark_ends(sim: OperatorSim, tmp_path: Path) -> None:
    sim.apply(join(driver={"sparkConf": {LIMIT: "3"}}))
    sim.settle()
    sim.begin()
    with asking_for_executors(sim, tmp_path, 1) as spark:
        for _ in range(3):
            _fail_executor(sim, spark)
        until(lambda: len(_executors(sim)) == 1, PATIENCE_SECONDS)
        assert _java(spark)
        _fail_executor(sim, spark)
        until(lambda: not _java(spark), PATIENCE_SECONDS)

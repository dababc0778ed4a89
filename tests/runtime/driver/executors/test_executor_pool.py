"""Executors that are added to real ones have their Python workers before they are given a lane."""

from pathlib import Path

import pytest

from tests.harness.machine.script_facts import facts_of

DRIVER = """
import sys
from pathlib import Path
from threading import Thread
from streamapp_runtime.driver.executors import executor_pool
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.executors.lane_partitions import lane_elements
from streamapp_runtime.driver.spark.spark_session import close_session, live_executors, open_session
from streamapp_runtime.systems.connection import KafkaConnection, SystemConnections
from tests.harness.machine.app_processes import victims
from tests.harness.machine.processes import until

folder = Path(sys.argv[1])
executor_pool.WORKER_WAIT_SECONDS = 60.0  # a busy machine may take longer than a run waits
session = open_session("pool", 2)
context = session
systems = SystemConnections("main", {"main": KafkaConnection("127.0.0.1:1")})
pool = ExecutorPool("pool", session, lambda _: None, 2, systems)
until(lambda: pool.present == 2, 60)
print("those that are there need nothing:", pool.ready(2) and not victims(folder)["daemon"])


def hold(_):
    # As lanes do that stay: no other task runs on such an executor.
    until(lambda: (folder / "released").exists(), 120)
    return ()


hosts = [(host, name) for name, host in live_executors(context).items()]
lanes = Thread(target=lane_elements(context, hosts, 2).mapPartitions(hold).count)
lanes.start()
until(lambda: len(victims(folder)["worker"]) == 2, 60)
print("a third is waited for:", not pool.ready(3))
until(lambda: pool.ready(3), 60)
print("it has a worker:", pool.present == 3 and len(victims(folder)["worker"]) == 3)
print("it is there:", pool.ready(3))
(added,) = [(host, name) for name, host in live_executors(context).items() if (host, name) not in hosts]


def imported(_):
    return [name in sys.modules for name in ("streamapp_runtime.lanes.worker", "confluent_kafka")]


workers = lane_elements(context, [added], 1).mapPartitions(imported)
print("its worker has what a lane needs:", workers.collect() == [True, True])
(folder / "released").touch()
lanes.join()
close_session(session)
"""


@pytest.mark.usefixtures("process")
def test_a_new_executor_is_ready_when_it_has_a_worker(tmp_path: Path) -> None:
    assert facts_of(DRIVER, tmp_path) == [
        *("those that are there need nothing: True", "a third is waited for: True"),
        *("it has a worker: True", "it is there: True", "its worker has what a lane needs: True"),
    ]

"""Real executors are asked whether they are there: one that is stopped or cut off is replaced."""

from pathlib import Path

import pytest

from tests.harness.machine.script_facts import facts_of

ANSWER_SECONDS = 5.0
HASTY_SECONDS = 2.0
DRIVER = """
import sys, time
from pathlib import Path
from streamapp_runtime.driver.executors.executor_probe import LOOK_SECONDS, ExecutorProbe
from streamapp_runtime.driver.executors.lane_partitions import lane_elements, lane_identities
from streamapp_runtime.driver.executors.session_lanes import answering_executors, close_lanes, session_lanes
from streamapp_runtime.driver.spark.scala_objects import field_of
from streamapp_runtime.driver.spark.spark_session import close_session, live_executors, open_session
from tests.harness.machine.app_processes import standing_still, victims
from tests.harness.machine.processes import until

answer_seconds, hasty_seconds = map(float, sys.argv[2:])
session = open_session("probe", 2)
context = session
hasty = ExecutorProbe(context, hasty_seconds)
probe = session_lanes(context).probe = ExecutorProbe(context, answer_seconds)


def executors():
    return live_executors(context)


def look(done, seconds=60, asked=executors, probe=probe):
    deadline = time.monotonic() + seconds
    while not done() and time.monotonic() < deadline:
        probe.look(asked())
        time.sleep(LOOK_SECONDS)
    return done()


def stopped():
    return standing_still(victims(Path(sys.argv[1]))["executor"][:1])


def cut_off(executor):
    # What Spark does on Kubernetes when a connection ends: it waits for the cluster to say what became of it.
    dispatcher = field_of(field_of(context._jsc.sc().schedulerBackend(), "rpcEnv"), "dispatcher")
    endpoints = field_of(dispatcher, "endpointRefs").keySet().toArray()
    (driver,) = [one for one in endpoints if one.getClass().getName().endswith("DriverEndpoint")]
    assert driver.disableExecutor(executor)


until(lambda: len(executors()) == 2, 60)
first = set(executors())
look(lambda: False, 2 * hasty_seconds, probe=hasty)
print("all answer:", set(executors()) == first)
with stopped():
    hasty.look(executors())
    time.sleep(1.5 * hasty_seconds)  # as if the driver were stopped itself
look(lambda: False, hasty_seconds, probe=hasty)
print("nobody looked:", set(executors()) == first)
with stopped():
    print("one is silent soon:", look(lambda: len(probe.silent_executors()) == 1))
    print("it lives, and gets no lane:", len(executors()) == 2 and len(answering_executors(context)) == 1)
print("it answers again:", look(lambda: not probe.silent_executors()) and set(executors()) == first)
with stopped():
    lost = look(lambda: not first <= set(executors()))
    print("one is lost:", lost and len(first & set(executors())) == 1)
    print("another comes:", look(lambda: len(executors()) == 2))
    hosts = [(host, name) for name, host in executors().items()]
    print("both work:", len(set(lane_identities(lane_elements(context, hosts, 2)).values())) == 2)
before = set(executors())
lost = min(before)
cut_off(lost)
print("one that is cut off does not live:", set(executors()) == before - {lost})
print("it is replaced:", look(lambda: len(executors()) == 2, asked=lambda: before))
close_lanes()
close_session(session)
"""


@pytest.mark.usefixtures("process")
def test_an_executor_that_does_not_answer_while_it_is_asked_is_replaced(tmp_path: Path) -> None:
    assert facts_of(DRIVER, tmp_path, str(ANSWER_SECONDS), str(HASTY_SECONDS)) == [
        *("all answer: True", "nobody looked: True"),
        *("one is silent soon: True", "it lives, and gets no lane: True", "it answers again: True"),
        *("one is lost: True", "another comes: True", "both work: True"),
        *("one that is cut off does not live: True", "it is replaced: True"),
    ]

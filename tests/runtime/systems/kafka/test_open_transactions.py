"""What a lane that was killed left open holds nobody up for long."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.state_reset import StateReset
from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values, write
from tests.harness.machine.processes import until

OWNER, OUTPUT = "held.checkpoint", "held.output"
MOST_SECONDS = 3.0


@pytest.fixture
def system(kafka: str) -> Iterator[KafkaSystem]:
    system = KafkaSystem(kafka)
    system.create(OUTPUT, 1)
    yield system
    system.close()


def killed_amidst(kafka: str, output: str, owner: str, writer: str) -> None:
    """A lane that was killed with a transaction open."""
    command = [
        sys.executable,
        "-m",
        "tests.harness.child_processes.open_transaction_lane",
        kafka,
        output,
        owner,
        writer,
    ]
    lane = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert lane.stdout is not None
    assert lane.stdout.readline() == "open\n"
    lane.kill()
    lane.wait()
    lane.stdout.close()
    assert lane.stdin is not None
    lane.stdin.close()


def test_a_driver_that_starts_sets_free_within_seconds_what_a_killed_lane_held(
    kafka: str, system: KafkaSystem
) -> None:
    with closing(KafkaSystem(kafka)) as before:
        first = CheckpointStream(before, OWNER)
        first.open("run")
        first.expect(["processor-0", "processor-1"])
    killed_amidst(kafka, OUTPUT, OWNER, "processor-1")
    after = system.begin("others.checkpoint", 1)
    after.append(TopicPartition(OUTPUT, 0), values("seen"))
    after.commit()
    assert texts(system, TopicPartition(OUTPUT, 0)) == []  # the lane's transaction stands before it

    begun = time.monotonic()
    with closing(KafkaSystem(kafka)) as now:
        second = CheckpointStream(now, OWNER)
        second.open("run")
        while texts(system, TopicPartition(OUTPUT, 0)) != ["seen"]:
            assert time.monotonic() - begun < MOST_SECONDS
    assert time.monotonic() - begun < MOST_SECONDS
    assert (second.incarnation, second.checkpoints) == (2, {})


def test_a_run_that_begins_anew_reads_nothing_that_one_before_wrote_or_held_open(
    kafka: str, system: KafkaSystem
) -> None:
    owner, between = "anew.checkpoint", TopicPartition("anew.by-user", 0)
    system.create(between.topic, 1)
    first = CheckpointStream(system, owner)
    first.open("first")
    first.expect(["processor-0"])
    write(system, between, values("old"))
    killed_amidst(kafka, between.topic, owner, "processor-0")

    with closing(KafkaSystem(kafka)) as now:
        second = CheckpointStream(now, owner)
        second.open("second", reset=StateReset(1))
    assert (second.run_id, second.checkpoints, second.was_reset) == ("second", {}, True)
    write(system, between, values("new"))
    # A commit returns before its marker is in the log.
    until(lambda: texts(system, between, start=second.starts[between]), MOST_SECONDS)
    assert texts(system, between, start=second.starts[between]) == ["new"]

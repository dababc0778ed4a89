"""Partitions are added to a topic while others write it: records count once, and keys keep their order."""

import json
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions

from tests.harness.kafka.clients import QUIET
from tests.harness.runs.app_runs import AppEnv, Row
from tests.harness.runs.chained_app import USERS, chained, everything_once_and_in_order
from tests.harness.runs.changing_run import Feeder, Outside, changed, idle, progress
from tests.harness.runs.run_systems import ON_KAFKA

SETTLE_SECONDS = 3


def feeding(address: str, topic: str) -> Feeder:
    """A producer that hears of new partitions when it next asks, as others' producers do."""
    settings = {"partitioner": "murmur2_random", "enable.idempotence": True, "linger.ms": 5}
    asks = {"topic.metadata.refresh.interval.ms": SETTLE_SECONDS * 300}
    producer = Producer({"bootstrap.servers": address, **settings, **asks, **QUIET})

    def write(rows: list[Row]) -> None:
        for row in rows:
            producer.produce(topic, json.dumps(row).encode(), str(row["user"]).encode())
        assert producer.flush(60) == 0

    return Feeder(write, USERS)


def alter(address: str, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": address, **QUIET})
    admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(60)


@pytest.mark.long
@ON_KAFKA
def test_a_topic_that_doubles_twice_under_load_loses_no_record_and_no_order(
    env: AppEnv, kafka: str, tmp_path: Path
) -> None:
    topic = f"{env.prefix}events"
    env.system.create(topic, 2)
    feeder = feeding(kafka, topic)
    feeder.one()
    app = env.in_environment(chained(monitor={"interval": "1s"}, partitionSettle=f"{SETTLE_SECONDS}s"))
    run = Outside.start(tmp_path, app, processors=1)
    try:
        at = run.until(lambda said: progress(said) or idle(said))
        with feeder.feeding():
            for partitions in (4, 8):
                alter(kafka, topic, partitions)
                at = run.until(changed("model"), at)
                at = run.until(progress, at)
        run.until_so(lambda: len(env.records("out")) >= feeder.rounds * USERS)
        assert run.end() == 0
    finally:
        run.close()
    everything_once_and_in_order(env, feeder.rounds)

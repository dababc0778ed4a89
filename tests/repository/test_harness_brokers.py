from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.harness.kafka.broker import Broker, answers
from tests.harness.kafka.shared_broker import shared_broker


def topics(address: str) -> set[str]:
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    return set(client.list_topics(timeout=30).topics)


def create(address: str, topic: str) -> None:
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    client.create_topics([NewTopic(topic, 1, 1)])[topic].result(30)


@pytest.mark.nightly
def test_a_killed_broker_comes_back_with_what_it_held(broker: Broker) -> None:
    create(broker.bootstrap, "kept")
    broker.kill()
    assert not answers(broker.port)
    broker.start()
    assert "kept" in topics(broker.bootstrap)


@pytest.mark.usefixtures("kafka_jars")
def test_all_who_share_a_broker_have_the_same_until_the_last_leaves(tmp_path: Path) -> None:
    with shared_broker(tmp_path) as first:
        with shared_broker(tmp_path) as second:
            assert second == first
        create(first, "kept")
        with shared_broker(tmp_path) as third:
            assert "kept" in topics(third)
    with shared_broker(tmp_path) as another:
        assert "kept" not in topics(another)

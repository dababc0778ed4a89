"""How topics are compacted that restores read: set where a topic is made, reported where one was there."""

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.kafka.topics import COMPACTION
from streamapp_runtime.systems.stream_system import StreamOptions
from tests.harness.kafka.clients import created
from tests.harness.kafka.shared_topics import remove

CHANGELOG = "compaction.users.changelog"


@pytest.fixture
def system(kafka: str) -> Iterator[KafkaSystem]:
    remove(kafka, [CHANGELOG])
    system = KafkaSystem(kafka)
    yield system
    system.close()


def settings(kafka: str, topic: str) -> dict[str, str]:
    resource = ConfigResource(ResourceType.TOPIC, topic)
    admin = AdminClient({"bootstrap.servers": kafka})
    described = admin.describe_configs([resource])[resource].result()
    return {name: described[name].value for name in COMPACTION}


def test_a_changelog_is_made_with_short_segments(kafka: str, system: KafkaSystem) -> None:
    system.create(CHANGELOG, 2, StreamOptions(compacted=True))
    assert settings(kafka, CHANGELOG) == COMPACTION


def test_one_of_the_brokers_defaults_is_left_as_it_is_and_reported_with_what_mends_it(
    kafka: str, system: KafkaSystem, caplog: pytest.LogCaptureFixture
) -> None:
    topic = created(kafka, **{"cleanup.policy": "compact"})
    before = settings(kafka, topic)
    system.create(topic, 1, StreamOptions(compacted=True))
    assert settings(kafka, topic) == before
    (report,) = caplog.messages
    assert report.startswith(f'topic "{topic}" has segment.ms=604800000: nothing younger is compacted')
    command, added = report.split(" --add-config ")
    assert command.endswith(f"kafka-configs --alter --entity-type topics --entity-name {topic}")
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in (setting.split("=") for setting in added.split(","))
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": kafka})
    admin.incremental_alter_configs([resource])[resource].result()
    assert settings(kafka, topic) == COMPACTION
    caplog.clear()
    system.create(topic, 1, StreamOptions(compacted=True))
    assert caplog.messages == []


def test_nothing_is_reported_of_topics_that_are_not_compacted(
    kafka: str, system: KafkaSystem, caplog: pytest.LogCaptureFixture
) -> None:
    topic = created(kafka)
    system.create(topic, 1, StreamOptions())
    assert caplog.messages == []

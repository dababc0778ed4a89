"""A Kafka cluster does what every system does."""

from collections.abc import Iterator

import pytest

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from tests.harness.kafka.shared_topics import remove
from tests.runtime.systems.delivery_contract import DeliveryContract
from tests.runtime.systems.system_contract import SystemContract, SystemFactory

NAMES = ["views", "users", "checkpoint", "one.checkpoint"]


@pytest.fixture
def system_factory(kafka: str) -> Iterator[SystemFactory]:
    opened: list[KafkaSystem] = []

    def factory() -> KafkaSystem:
        opened.append(KafkaSystem(kafka))
        return opened[-1]

    remove(kafka, NAMES)
    yield factory
    for system in opened:
        system.close()


class TestKafka(SystemContract, DeliveryContract):
    pass

"""A Kafka cluster does what every system does."""

from collections.abc import Iterator

import pytest

from streamapp_runtime.systems.kafka.log import KafkaSystem
from tests.engine.systems.contract import SystemContract, SystemFactory
from tests.engine.systems.topics import remove

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


class TestKafka(SystemContract):
    pass

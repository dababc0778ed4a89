"""A Kafka cluster does what every system does."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.stream_system import StreamSystem
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
    @pytest.fixture
    def hasty_system(self, kafka: str) -> Iterator[StreamSystem]:
        with closing(KafkaSystem(kafka, {"socket.timeout.ms": "2000"})) as system:
            yield system

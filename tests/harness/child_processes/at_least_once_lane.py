"""A lane that hands a record out and is killed, by a crash point, before it has said so."""

import sys

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import values

if __name__ == "__main__":
    address, output, owner, way = sys.argv[1:]
    transaction = KafkaSystem(address).begin(
        owner, 1, {b"task 0": None}, "lane", at_least_once=way == "without-state"
    )
    transaction.append_uncommitted(TopicPartition(output, 0), values("early"))
    transaction.put(owner, b"task 0", b"never")
    transaction.commit()

"""A lane with a transaction open on an output and on the checkpoints, which waits to be killed."""

import sys

from streamapp_runtime.systems.kafka.kafka_system import KafkaSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import values

if __name__ == "__main__":
    address, output, owner, writer = sys.argv[1:]
    transaction = KafkaSystem(address).begin(owner, 1, writer=writer)
    transaction.append(TopicPartition(output, 0), values("never"))
    transaction.put(owner, b"task 0", b"never")
    transaction.end_of(TopicPartition(output, 0))  # it is there, for those who do not mind
    print("open", flush=True)  # noqa: T201
    sys.stdin.read()

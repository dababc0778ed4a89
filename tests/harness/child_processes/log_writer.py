"""A process that commits one transaction after the other until it is killed, and tells of each."""

import sys
from pathlib import Path

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.maintenance import MaintenanceRules
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch

STREAMS = {"views": 2, "users": 1}
PARTITIONS = [TopicPartition(name, index) for name, count in STREAMS.items() for index in range(count)]
CHECKPOINT = "checkpoint"


def main(folder: str, name: str) -> None:
    system = EmbeddedSystem(Path(folder), upkeep=MaintenanceRules(compact_from_bytes=20_000))
    key = name.encode()
    done = system.latest(CHECKPOINT).get(key)
    while True:
        number = int(done or b"0") + 1
        tag = f"{name} {number} ".encode()
        transaction = system.begin(name, 1)
        for partition in PARTITIONS:
            transaction.append(
                partition,
                batch((None, tag + b"x" * (number % 50 * 100), None) for _ in range(number % 40 + 1)),
            )
        done = str(number).encode()
        transaction.put(CHECKPOINT, key, done)
        transaction.commit()
        print(number, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

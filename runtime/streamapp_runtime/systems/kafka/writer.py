"""A transactional producer under one writer's name, and what it takes for the newest checkpoints."""

from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from confluent_kafka import KafkaException, Producer

from streamapp_runtime.systems.kafka.cluster import ANSWER_SECONDS, Cluster
from streamapp_runtime.systems.kafka.faults import RAISED

_AT_ONCE = 16


@dataclass(slots=True)
class Writer:
    """One producer for as long as its transactions go well; after a failure another one begins anew."""

    cluster: Cluster
    transactional_id: str
    incarnation: int
    producer: Producer
    known: dict[bytes, bytes | None] = field(default_factory=dict)  # of the keys that this writer writes
    busy: bool = False  # has a transaction that has not ended
    spent: bool = False

    def agrees(self, expected: Iterable[tuple[bytes, bytes | None]]) -> bool:
        """Whether what is expected is what this writer itself wrote or read last, as far as it knows."""
        return all(self.known.get(key, value) == value for key, value in expected)

    def close(self) -> None:
        """Let go; what is open is voided where the cluster can be reached."""
        with suppress(*RAISED):
            self.producer.purge()
            if self.busy:
                self.producer.abort_transaction(ANSWER_SECONDS)
        self.spent = True


def begun(cluster: Cluster, transactional_id: str, incarnation: int) -> Writer:
    """A writer that took over a name: any other of that name is fenced, and what it had open is void."""
    producer = cluster.producer(transactional_id)
    initialise(cluster, producer, transactional_id)
    return Writer(cluster, transactional_id, incarnation, producer)


def initialise(cluster: Cluster, producer: Producer, transactional_id: str) -> None:
    """Take over a name."""
    try:
        producer.init_transactions(ANSWER_SECONDS)
    except KafkaException as error:
        raise cluster.failure(error, f'beginning to write as "{transactional_id}"') from None


def void(cluster: Cluster, transactional_ids: Collection[str]) -> None:
    """Fence whoever writes under these names, by taking each of them over for a moment."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for done in [pool.submit(begun, cluster, name, 0) for name in transactional_ids]:
            done.result()

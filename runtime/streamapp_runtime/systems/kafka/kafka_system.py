"""A Kafka cluster as a system of streams."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
from confluent_kafka import TopicPartition

from streamapp.spec.resource.kafka_settings import TOPICS
from streamapp.tasks.partition import Partition
from streamapp_runtime.systems.kafka.rdkafka import partition_offsets
from streamapp_runtime.systems.kafka.rdkafka.kafka_clients import ANSWER_SECONDS, KafkaClients
from streamapp_runtime.systems.kafka.rdkafka.latest_values import LatestValues
from streamapp_runtime.systems.kafka.rdkafka.rdkafka_producer import RdkafkaProducer
from streamapp_runtime.systems.kafka.rdkafka.rdkafka_reader import RangeReader, RdkafkaReader
from streamapp_runtime.systems.kafka.rdkafka.topics import Topics
from streamapp_runtime.systems.kafka.secret_settings import read_secrets
from streamapp_runtime.systems.kafka.transactions import transactional_writer
from streamapp_runtime.systems.kafka.transactions.kafka_transaction import KafkaTransaction
from streamapp_runtime.systems.kafka.transactions.non_transactional_producer import NonTransactionalProducer
from streamapp_runtime.systems.kafka.transactions.non_transactional_writes import (
    NonTransactionalWrites,
    NotedCheckpoints,
)
from streamapp_runtime.systems.kafka.transactions.transactional_writer import (
    MakeRecordProducer,
    TransactionalWriter,
)
from streamapp_runtime.systems.kafka.wire.wire_setup import wire_setup
from streamapp_runtime.systems.stream_system import (
    DEFAULT_OPTIONS,
    FencedError,
    OffsetSpan,
    StreamHolding,
    StreamOptions,
    UnavailableError,
    UnknownStreamError,
)

FENCE = b"\x00fence"
"""The key, in the checkpoint stream, of the highest incarnation that was fenced with."""
_FENCER = "fence"
DELETE_SECONDS = 5.0
"""How often records are deleted at most: brokers free whole segments only, and a batch waits for it."""


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class KafkaSystem:
    """The topics of a cluster; transactional ids begin with the name of the checkpoint stream."""

    def __init__(
        self,
        bootstrap_servers: str,
        settings: Mapping[str, str] | None = None,
        *,
        replication: int = -1,
        clock: Callable[[], int] = now,
    ) -> None:
        self._cluster = KafkaClients(bootstrap_servers, settings or {})
        self._topics = Topics(self._cluster, replication)
        wire = wire_setup(bootstrap_servers, settings or {}, ANSWER_SECONDS)
        self._reading: RangeReader = wire.reader() if wire else RdkafkaReader(self._cluster, self._stable_end)
        self._make: MakeRecordProducer = wire.producer if wire else self._librdkafka
        self._outright = NonTransactionalProducer(self._make)
        self._newest = LatestValues(self._cluster, self._topics, self._reading)
        self._writers: dict[tuple[str, str], TransactionalWriter] = {}
        self._noted: dict[tuple[str, str], NotedCheckpoints] = {}
        self._clock = clock
        self._deleted = float("-inf")

    def streams(self) -> Mapping[str, int]:
        """All topics but the cluster's own, with their partition counts."""
        return self._topics.all()

    def partitions(self, stream: str) -> int | None:
        """A topic's partition count; None when there is no such topic."""
        found = self._topics.find([stream]).get(stream)
        return None if found is None else found.partitions

    def identities(self, streams: Collection[str]) -> Mapping[str, str]:
        """The ids of those of these topics that there are."""
        return {name: topic.identity for name, topic in self._topics.find(streams).items()}

    def holdings(self, streams: Collection[str] | None = None) -> Mapping[str, StreamHolding]:
        """What topics hold: those of these that there are, or all. Brokers tell clients of no bytes."""
        shown = self._topics.all().keys()
        found = self._topics.find(shown if streams is None else shown & set(streams))
        while True:
            try:
                return self._held({name: found[name].partitions for name in sorted(found)})
            except UnknownStreamError:
                before, found = found, self._topics.find(found)
                if found == before:
                    raise  # and not one that somebody deleted meanwhile

    def _held(self, counts: Mapping[str, int]) -> Mapping[str, StreamHolding]:
        options = self._topics.options(counts)
        spans = self.spans(Partition(name, index) for name, count in counts.items() for index in range(count))
        records: Counter[str] = Counter()
        for partition, span in spans.items():
            records[partition.stream] += span.end - span.oldest
        return {
            name: StreamHolding(count, options[name], records[name], None) for name, count in counts.items()
        }

    def create(self, stream: str, partitions: int, options: StreamOptions = DEFAULT_OPTIONS) -> None:
        """Make a topic. One with the same count and options is left as it is; any other is a ValueError."""
        self._topics.create(stream, partitions, options)

    def grow(self, stream: str, partitions: int) -> None:
        """Add partitions; fewer than there are is a ValueError."""
        self._topics.grow(stream, partitions)

    def spans(self, partitions: Iterable[Partition]) -> Mapping[Partition, OffsetSpan]:
        """What each partition holds now, committed records only: up to the last stable offset."""
        asked = list(partitions)
        for partition in asked:
            self._topics.check(partition)
        try:
            first, ends = (
                partition_offsets.oldest_offsets(self._cluster, asked),
                partition_offsets.stable_ends(self._cluster, asked),
            )
        except (UnavailableError, UnknownStreamError):
            self._topics.look_again(asked)  # where one of them was deleted that is what has to be said
            raise
        return {partition: OffsetSpan(first[partition], ends[partition]) for partition in asked}

    def settled(self, partitions: Iterable[Partition]) -> bool:
        """Whether no transaction is open on these partitions, or was committed and is not yet visible."""
        asked = list(partitions)
        return partition_offsets.high_watermarks(self._cluster, asked) == partition_offsets.stable_ends(
            self._cluster, asked
        )

    def read(self, partition: Partition, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The committed records (schema STORED) with start <= offset < end, in order."""
        self._topics.check(partition)
        return self._reading.read(partition, start, end) if start < end else iter(())

    def latest(self, stream: str, *, settled: bool = True) -> Mapping[bytes, bytes]:
        """The newest value of every key of a compacted topic's partition 0; deleted keys are left out."""
        found = self._newest.values(stream, settled=settled)
        return {key: value for key, value in found.items() if key != FENCE}

    def begin(
        self,
        owner: str,
        incarnation: int,
        expected: Mapping[bytes, bytes | None] | None = None,
        writer: str = "",
        *,
        loose: bool = False,
    ) -> KafkaTransaction | NonTransactionalWrites:
        """Open a transaction for a lane; see `System.begin`.

        A producer that is new takes over its name, then reads, then compares. One that goes on after its own
        commit knows that nobody else wrote meanwhile: they would have had to take over its name.
        """
        wanted = expected or {}
        self._outright.drop()  # what one before may have left when it failed
        if loose:
            noted = self._compared(owner, incarnation, wanted, writer)
            return NonTransactionalWrites(self._outright, noted, self._topics.check, self._clock())
        found = self._writers.get((owner, writer))
        fit = found and not found.spent and not found.busy and found.incarnation == incarnation
        if not (found and fit and found.agrees(wanted.items())):
            found = self._begun(owner, incarnation, writer)
        missing = wanted.keys() - found.known.keys()
        if missing:
            newest = self._newest.values(owner, settled=True)
            found.known.update({key: newest.get(key) for key in missing})
        _compare(owner, wanted, found.known)
        found.busy = True
        return self._transaction(found)

    def _transaction(self, of: TransactionalWriter) -> KafkaTransaction:
        return KafkaTransaction(of, self._outright, self._topics.check, self._stable_end, self._clock())

    def interrupt(self, owner: str, writers: Collection[str]) -> None:
        """Void what these writers have open, so that it holds up no reader. They may begin anew."""
        transactional_writer.fence_writers(self._make, [_id(owner, name) for name in writers])

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        """From now on nothing of a lower incarnation commits for that owner; what was open is void."""
        found = transactional_writer.take_over_writer(self._make, _id(owner, _FENCER), incarnation)
        try:
            # What lanes still have open cannot be waited for: they are voided only when this is written.
            if incarnation > self._fenced_with(owner, settled=False):
                transaction = self._transaction(found)
                transaction.put(owner, FENCE, str(incarnation).encode())
                transaction.commit()
        finally:
            found.close()
        self.interrupt(owner, writers)

    def delete_before(self, positions: Mapping[Partition, int]) -> None:
        """Records below these positions are read by nobody any more and go, now or by a later call."""
        if time.monotonic() - self._deleted < DELETE_SECONDS:
            return
        self._deleted = time.monotonic()
        asked = [TopicPartition(p.stream, p.index, at) for p, at in positions.items()]
        if not asked:
            return
        for place, done in self._cluster.admin.delete_records(asked, request_timeout=ANSWER_SECONDS).items():
            self._cluster.answer(done, f"deleting records of {place.topic}#{place.partition}")

    def tidy(self) -> None:
        """Nothing: brokers look after topics."""

    def close(self) -> None:
        """Let go of everything."""
        self._reading.close()
        self._outright.close()
        for each in self._writers.values():
            each.close()
        self._writers.clear()

    def _compared(
        self, owner: str, incarnation: int, wanted: Mapping[bytes, bytes | None], writer: str
    ) -> NotedCheckpoints:
        """What a writer that owns no name may take for true: read once, and again when it is in doubt."""
        noted = self._noted.get((owner, writer))
        if noted is None or not noted.agrees(incarnation, wanted):
            newest = self._newest.values(owner, settled=True)
            _check_fence(owner, incarnation, int(newest.get(FENCE, b"0")))
            _compare(owner, wanted, newest)
            noted = self._noted[owner, writer] = NotedCheckpoints(incarnation, dict(wanted))
        return noted

    def _begun(self, owner: str, incarnation: int, name: str) -> TransactionalWriter:
        """A writer of that name that has taken over, unless a newer incarnation has."""
        former = self._writers.pop((owner, name), None)
        if former is not None:
            former.close()
        found = transactional_writer.take_over_writer(self._make, _id(owner, name), incarnation)
        self._writers[owner, name] = found
        try:
            _check_fence(owner, incarnation, self._fenced_with(owner))
        except FencedError:
            found.spent = True
            raise
        return found

    def _fenced_with(self, owner: str, *, settled: bool = True) -> int:
        try:
            return int(self._newest.values(owner, settled=settled).get(FENCE, b"0"))
        except UnknownStreamError:
            return 0

    def _librdkafka(self, transactional_id: str | None) -> RdkafkaProducer:
        producer = self._cluster.producer(transactional_id)
        return RdkafkaProducer(self._cluster, transactional_id, producer)

    def _stable_end(self, partition: Partition) -> int:
        return partition_offsets.stable_ends(self._cluster, [partition])[partition]


def _check_fence(owner: str, incarnation: int, fenced: int) -> None:
    if fenced > incarnation:
        raise FencedError(f'"{owner}" is fenced for incarnation {fenced}; this is {incarnation}')


def _compare(
    owner: str,
    wanted: Mapping[bytes, bytes | None],
    known: Mapping[bytes, bytes | None],
) -> None:
    for key, value in wanted.items():
        if known.get(key) != value:
            raise FencedError(f'the checkpoint of {key!r} in "{owner}" is not the expected one')


def _id(owner: str, name: str) -> str:
    return f"{owner}.{name}" if name else owner


_BROKERS_OWN = -1


def open_kafka(bootstrap_servers: str, settings: Mapping[str, str], secrets: str | None) -> KafkaSystem:
    """The system; `secrets` is a folder, or a file of lines."""
    every = dict(settings) | (read_secrets(Path(secrets)) if secrets else {})
    replication = int(every.get("replication.factor", _BROKERS_OWN))
    clients = {name: value for name, value in every.items() if name not in TOPICS}
    return KafkaSystem(bootstrap_servers, clients, replication=replication)

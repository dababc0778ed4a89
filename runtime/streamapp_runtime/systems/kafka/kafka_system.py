"""A Kafka cluster as a system of streams."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from pathlib import Path

import confluent_kafka
import pyarrow as pa
import pyarrow.compute as pc

from streamapp.spec.resource.kafka_settings import NOT_FOR_BROKERS
from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.checkpoint_entries import FENCE, READ_BARRIER
from streamapp_runtime.systems.kafka.cluster_admin import ANSWER_SECONDS, ClusterAdmin
from streamapp_runtime.systems.kafka.latest_values import LatestValues
from streamapp_runtime.systems.kafka.secret_settings import read_secrets
from streamapp_runtime.systems.kafka.topics import Topics
from streamapp_runtime.systems.kafka.transactions import transactional_writer
from streamapp_runtime.systems.kafka.transactions.kafka_transaction import KafkaTransaction
from streamapp_runtime.systems.kafka.transactions.non_transactional_producer import NonTransactionalProducer
from streamapp_runtime.systems.kafka.transactions.non_transactional_writes import (
    NonTransactionalWrites,
    NotedCheckpoints,
)
from streamapp_runtime.systems.kafka.transactions.outgoing_records import as_records
from streamapp_runtime.systems.kafka.transactions.transactional_writer import (
    MakeProducer,
    TransactionalWriter,
)
from streamapp_runtime.systems.kafka.wire.requests.broker_trouble import BrokerTrouble
from streamapp_runtime.systems.kafka.wire.wire_setup import wire_setup
from streamapp_runtime.systems.stream_system import (
    DEFAULT_OPTIONS,
    DeniedError,
    FencedError,
    HasFileno,
    OffsetRange,
    StreamHolding,
    StreamOptions,
    SystemTrouble,
    UnavailableError,
    UnknownStreamError,
    unexpected_entry,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_FENCER = "fence"
DELETE_SECONDS = 5.0
"""How often records are deleted at most: brokers free whole segments only."""
_DELETION_SECONDS = 0.25
"""How long a deletion is waited for. What came of one that takes longer is seen by the next one."""


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
        self._cluster = ClusterAdmin(bootstrap_servers, settings or {})
        self._topics = Topics(self._cluster, replication)
        self._trouble = BrokerTrouble()
        wire = wire_setup(bootstrap_servers, settings or {}, ANSWER_SECONDS, self._trouble)
        self._offsets = wire.offsets()
        self._arrivals = wire.arrivals()
        self._reader = wire.reader()
        self._make: MakeProducer = wire.producer
        self._non_transactional = NonTransactionalProducer(self._make)
        self._latest_values = LatestValues(self._offsets, self._topics, self._reader)
        self._writers: dict[tuple[str, str], TransactionalWriter] = {}
        self._noted_checkpoints: dict[tuple[str, str], NotedCheckpoints] = {}
        self._clock = clock
        self._deleted = float("-inf")
        self._deletions: dict[confluent_kafka.TopicPartition, Future[object]] = {}

    def streams(self) -> Mapping[str, int]:
        """All topics but the cluster's own, with their partition counts."""
        return self._topics.all()

    def partitions(self, stream: str) -> int | None:
        """A topic's partition count; None when there is no such topic."""
        topic = self._topics.find([stream]).get(stream)
        return None if topic is None else topic.partitions

    def identities(self, streams: Collection[str]) -> Mapping[str, str]:
        """The ids of those of these topics that there are."""
        return {name: topic.identity for name, topic in self._topics.find(streams).items()}

    def holdings(self, streams: Collection[str] | None = None) -> Mapping[str, StreamHolding]:
        """The holdings of topics: those of these that there are, or all. Brokers tell clients of no bytes."""
        topic_names = self._topics.all().keys()
        topics = self._topics.find(topic_names if streams is None else topic_names & set(streams))
        while True:
            try:
                return self._stream_holdings({name: topics[name].partitions for name in sorted(topics)})
            except UnknownStreamError:
                before, topics = topics, self._topics.find(topics)
                if topics == before:
                    raise  # and not one that somebody deleted meanwhile

    def _stream_holdings(self, counts: Mapping[str, int]) -> Mapping[str, StreamHolding]:
        options = self._topics.options(counts)
        spans = self.spans(
            TopicPartition(name, index) for name, count in counts.items() for index in range(count)
        )
        records: Counter[str] = Counter()
        for partition, span in spans.items():
            records[partition.topic] += span.end - span.oldest
        return {
            name: StreamHolding(count, options[name], records[name], None) for name, count in counts.items()
        }

    def create(self, stream: str, partitions: int, options: StreamOptions = DEFAULT_OPTIONS) -> None:
        """Make a topic. One with the same count and options is left as it is; any other is a ValueError."""
        self._topics.create(stream, partitions, options)

    def grow(self, stream: str, partitions: int) -> None:
        """Add partitions; fewer than there are is a ValueError."""
        self._topics.grow(stream, partitions)

    def spans(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetSpan]:
        """The offsets of each partition's committed records now: up to the last stable offset."""
        partition_list = list(partitions)
        for partition in partition_list:
            self._topics.check(partition)
        try:
            first = self._offsets.oldest(partition_list)
            ends = self._offsets.epoch_stable_ends(partition_list)
        except (UnavailableError, UnknownStreamError):
            self._topics.look_again(
                partition_list
            )  # where one of them was deleted that is what has to be said
            raise
        return {partition: OffsetSpan(first[partition], *ends[partition]) for partition in partition_list}

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """The offsets at which the epochs of leaders ended, as those say who lead now."""
        return self._offsets.epoch_ends(epochs)

    def await_records(
        self, ends: Mapping[TopicPartition, int], seconds: float, wake: HasFileno | None = None
    ) -> bool:
        """Have leaders answer once records are committed."""
        return self._arrivals.wait(ends, seconds, wake)

    def offsets_at(self, partitions: Iterable[TopicPartition], time_ms: int) -> Mapping[TopicPartition, int]:
        """The first record of each partition that is not older than a time; the end where there is none."""
        spans = self.spans(partitions)
        starts = self._offsets.at_time(spans.keys(), time_ms)
        return {
            partition: self._record_at(partition, starts.get(partition, span.end), span.end, time_ms)
            for partition, span in spans.items()
        }

    def _record_at(self, partition: TopicPartition, start: int, end: int, time_ms: int) -> int:
        """The first record of a range that is not older: brokers also count the ends of transactions."""
        for batch in self.read(partition, start, end):
            place: int = pc.index(pc.greater_equal(batch.column("timestamp"), time_ms), value=True).as_py()
            if place >= 0:
                return int(batch.column("offset")[place].as_py())
        return end

    def open_transactions(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The offset of the first open, or committed and not yet visible, transaction, by partition."""
        partition_list = list(partitions)
        ends = self._offsets.high_watermarks(partition_list)
        stable_ends = self._offsets.stable_ends(partition_list)  # asked later: it may be further by now
        return {one: stable_ends[one] for one in partition_list if stable_ends[one] < ends[one]}

    def read(
        self, partition: TopicPartition, start: int, end: int, *, headers: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The committed records (schema STORED) with start <= offset < end, in order."""
        self._topics.check(partition)
        return self._reader.read(partition, start, end, headers=headers) if start < end else iter(())

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Ask each leader once for all ranges; see `StreamSystem.fetch_ahead`."""
        self._reader.fetch_ahead([one for one in ranges if one.start < one.end])

    def latest(self, stream: str, *, settled: bool = True) -> Mapping[bytes, bytes]:
        """The newest value of every key of a compacted topic's partition 0; deleted keys are left out."""
        newest_values = self._latest_values.values(stream, settled=settled)
        return {key: value for key, value in newest_values.items() if key != FENCE.key}

    def begin(
        self,
        owner: str,
        incarnation: int,
        expected: Mapping[bytes, bytes | None] | None = None,
        writer: str = "",
        *,
        at_least_once: bool = False,
    ) -> KafkaTransaction | NonTransactionalWrites:
        """Open a transaction for a lane; see `System.begin`.

        A producer that is new takes over its name, then reads, then compares. One that goes on after its own
        commit knows that nobody else wrote meanwhile: they would have had to take over its name.
        """
        expected_values = expected or {}
        self._non_transactional.drop()  # what one before may have left when it failed
        if at_least_once:
            checkpoints = self._checked_checkpoints(owner, incarnation, expected_values, writer)
            return NonTransactionalWrites(
                self._non_transactional, checkpoints, self._topics.check, self._clock()
            )
        open_writer = self._writers.get((owner, writer))
        if not (
            open_writer and open_writer.serves(incarnation) and open_writer.agrees(expected_values.items())
        ):
            open_writer = self._take_over(owner, incarnation, writer)
        missing = expected_values.keys() - open_writer.checkpoints.keys()
        if missing:
            newest = self._latest_values.values(owner, settled=True)
            open_writer.checkpoints.update({key: newest.get(key) for key in missing})
        _compare(owner, expected_values, open_writer.checkpoints)
        open_writer.busy = True
        return self._transaction(open_writer)

    def _transaction(self, writer: TransactionalWriter) -> KafkaTransaction:
        return KafkaTransaction(
            writer, self._non_transactional, self._topics.check, self._offsets.stable_ends, self._clock()
        )

    def interrupt(self, owner: str, writers: Collection[str]) -> None:
        """Void what these writers have open, so that it holds up no reader. They may start again."""
        transactional_writer.fence_writers(self._make, [_id(owner, name) for name in writers])

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        """From now on nothing of a lower incarnation commits for that owner; what was open is void."""
        fencing_writer = transactional_writer.take_over_writer(self._make, _id(owner, _FENCER), incarnation)
        try:
            # What lanes still have open cannot be waited for: they are voided only when this is written.
            if incarnation > self._fenced_incarnation(owner, settled=False):
                transaction = self._transaction(fencing_writer)
                transaction.put(owner, FENCE.key, FENCE.encode(incarnation))
                transaction.commit()
            self.interrupt(owner, writers)
            self._raise_read_barrier(owner, fencing_writer)
        finally:
            fencing_writer.close()

    def delete_before(self, positions: Mapping[TopicPartition, int]) -> None:
        """Records below these positions are read by nobody any more and go, now or by a later call."""
        if time.monotonic() - self._deleted < DELETE_SECONDS:
            return
        self._deleted = time.monotonic()
        self._note_deletions()
        offsets = [confluent_kafka.TopicPartition(p.topic, p.index, at) for p, at in positions.items()]
        if not offsets:
            return
        self._deletions = self._cluster.admin.delete_records(offsets, request_timeout=ANSWER_SECONDS)
        wait(self._deletions.values(), _DELETION_SECONDS)
        self._note_deletions()

    def _note_deletions(self) -> None:
        """See what came of deletions. Where a leader is away records go later, and nothing waits for it."""
        done = {place: future for place, future in self._deletions.items() if future.done()}
        for place, future in done.items():
            del self._deletions[place]
            try:
                self._cluster.answer(future, f"deleting records of {place.topic}#{place.partition}")
            except UnavailableError as error:
                if isinstance(error, DeniedError):
                    raise

    def trouble(self) -> SystemTrouble | None:
        """The trouble with brokers that has kept calls lately."""
        return self._trouble.lasting

    def throttled_seconds(self) -> float:
        """The seconds for which brokers' quotas have kept calls so far."""
        return self._trouble.throttled_seconds

    def tidy(self) -> None:
        """Nothing: brokers manage topics."""

    def close(self) -> None:
        """Let go of everything."""
        self._reader.close()
        self._arrivals.close()
        self._offsets.close()
        self._non_transactional.close()
        for each in self._writers.values():
            each.close()
        self._writers.clear()

    def _checked_checkpoints(
        self, owner: str, incarnation: int, expected: Mapping[bytes, bytes | None], writer: str
    ) -> NotedCheckpoints:
        """The checkpoints that a writer without a name may trust: read once, and again when in doubt."""
        checkpoints = self._noted_checkpoints.get((owner, writer))
        if checkpoints is None or not checkpoints.agrees(incarnation, expected):
            newest = self._latest_values.values(owner, settled=True)
            _check_fence(owner, incarnation, FENCE.read(newest, owner, int) or 0)
            _compare(owner, expected, newest)
            checkpoints = self._noted_checkpoints[owner, writer] = NotedCheckpoints(
                incarnation, dict(expected)
            )
        return checkpoints

    def _take_over(self, owner: str, incarnation: int, name: str) -> TransactionalWriter:
        """A writer of that name that has taken over, unless a newer incarnation has."""
        former = self._writers.pop((owner, name), None)
        if former is not None:
            former.close()
        writer = transactional_writer.take_over_writer(self._make, _id(owner, name), incarnation)
        self._writers[owner, name] = writer
        try:
            self._raise_read_barrier(owner, writer)
            _check_fence(owner, incarnation, self._fenced_incarnation(owner))
        except BaseException:
            writer.spent = True
            raise
        return writer

    def _raise_read_barrier(self, owner: str, writer: TransactionalWriter) -> None:
        """Have later reads of the owner's newest values see all that was committed before this call.

        A broker that was frozen or cut off answers by what it knew before, until it hears of the next leader.
        What all replicas in sync have confirmed is behind everything that was committed: nothing that ends
        before it is the end. A tombstone of a key that nobody has leaves nothing to be read.
        """
        partition = TopicPartition(owner, 0)
        try:
            self._topics.check(partition)
        except UnknownStreamError:
            return  # nothing was committed there
        tombstone = as_records([(READ_BARRIER, None)], self._clock())
        writer.producing.append(partition, tombstone)
        self._latest_values.read_up_to(owner, writer.producing.commit()[partition])

    def _fenced_incarnation(self, owner: str, *, settled: bool = True) -> int:
        try:
            return FENCE.read(self._latest_values.values(owner, settled=settled), owner, int) or 0
        except UnknownStreamError:
            return 0


def _check_fence(owner: str, incarnation: int, fenced: int) -> None:
    if fenced > incarnation:
        raise FencedError(f'"{owner}" is fenced for incarnation {fenced}; this is {incarnation}')


def _compare(
    owner: str,
    expected: Mapping[bytes, bytes | None],
    checkpoints: Mapping[bytes, bytes | None],
) -> None:
    for key, value in expected.items():
        if checkpoints.get(key) != value:
            raise unexpected_entry(owner, key)


def _id(owner: str, name: str) -> str:
    return f"{owner}.{name}" if name else owner


_BROKERS_OWN = -1


def open_kafka(bootstrap_servers: str, settings: Mapping[str, str], secrets: str | None) -> KafkaSystem:
    """The system; `secrets` is a folder, or a file of lines."""
    every = dict(settings) | (read_secrets(Path(secrets)) if secrets else {})
    replication = int(every.get("replication.factor", _BROKERS_OWN))
    clients = {name: value for name, value in every.items() if name not in NOT_FOR_BROKERS}
    return KafkaSystem(bootstrap_servers, clients, replication=replication)

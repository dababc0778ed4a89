"""The embedded log as a system of streams."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from streamapp.tasks.partition import OffsetSpan
from streamapp_runtime.systems.embedded import expiry, latest_index, partition_extent
from streamapp_runtime.systems.embedded import stream_table as log_streams
from streamapp_runtime.systems.embedded.block import Compression
from streamapp_runtime.systems.embedded.block_reads import check_range, offset_at, read_range
from streamapp_runtime.systems.embedded.embedded_transaction import (
    EmbeddedTransaction,
    TransactionOwner,
    fence,
)
from streamapp_runtime.systems.embedded.lmdb_environment import MAP_SIZE, shared_environment
from streamapp_runtime.systems.embedded.maintenance import MaintenanceRules, maintain
from streamapp_runtime.systems.stream_system import (
    DEFAULT_OPTIONS,
    HasFileno,
    OffsetRange,
    StreamHolding,
    StreamOptions,
    UnavailableError,
)
from streamapp_runtime.systems.topic_partition import TopicPartition

_USUAL_UPKEEP = MaintenanceRules()


def now() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


class EmbeddedSystem:
    """A log in a folder, which is made when it is not there.

    Any number of processes of one host, in one pid namespace, may use a folder at once. One object belongs to
    one process and is used by one thread at a time; several objects of a process share what is open.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        sync: bool = False,
        compression: Compression | None = None,
        map_size: int = MAP_SIZE,
        upkeep: MaintenanceRules = _USUAL_UPKEEP,
        clock: Callable[[], int] = now,
    ) -> None:
        self._environment = shared_environment(Path(path), sync, map_size)
        self._compression = compression
        self._upkeep = upkeep
        self._clock = clock
        self._closed = False

    @property
    def folder(self) -> Path:
        """The folder in which the log lies."""
        return self._environment.path

    def streams(self) -> Mapping[str, int]:
        """All streams with their partition counts."""
        with self._environment.reading() as txn:
            return {name: stream.partitions for name, stream in log_streams.all_streams(txn).items()}

    def partitions(self, stream: str) -> int | None:
        """A stream's partition count; None when there is no such stream."""
        with self._environment.reading() as txn:
            log_stream = log_streams.find_stream(txn, stream)
            return None if log_stream is None else log_stream.partitions

    def identities(self, streams: Collection[str]) -> Mapping[str, str]:
        """The numbers of those of these streams that there are; none is used again."""
        names = set(streams)
        with self._environment.reading() as txn:
            log_streams_by_name = log_streams.all_streams(txn)
        return {name: str(stream.id) for name, stream in log_streams_by_name.items() if name in names}

    def create(self, stream: str, partitions: int, options: StreamOptions = DEFAULT_OPTIONS) -> None:
        """Make a stream. One with the same count and options is left as it is; any other is a ValueError."""
        with self._environment.writing() as txn:
            log_streams.create_stream(txn, stream, partitions, options)

    def grow(self, stream: str, partitions: int) -> None:
        """Add partitions; fewer than there are is a ValueError."""
        with self._environment.writing() as txn:
            log_streams.grow_stream(txn, stream, partitions)

    def delete(self, stream: str) -> None:
        """Take a stream away, with all that it holds. One that is made by that name later is another one."""
        with self._environment.writing() as txn:
            log_streams.delete_stream(txn, stream)

    def spans(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetSpan]:
        """The offsets that each partition holds, all at the same moment."""
        offset_spans = {}
        with self._environment.reading() as txn:
            for partition in partitions:
                extent = partition_extent.load_extent(
                    txn, log_streams.owner_of(txn, partition).id, partition.index
                )
                offset_spans[partition] = OffsetSpan(extent.oldest, extent.end)
        return offset_spans

    def await_records(
        self, ends: Mapping[TopicPartition, int], seconds: float, wake: HasFileno | None = None
    ) -> bool:
        """False: other processes write to the log, and a look at it costs little."""
        return False

    def epoch_ends(self, _: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Nothing: a log in a folder has no leaders."""
        return {}

    def offsets_at(self, partitions: Iterable[TopicPartition], time_ms: int) -> Mapping[TopicPartition, int]:
        """The first record of each partition that is not older than a time; the end where there is none."""
        with self._environment.reading() as txn:
            return {
                partition: offset_at(txn, log_streams.owner_of(txn, partition).id, partition.index, time_ms)
                for partition in partitions
            }

    def open_transactions(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """None: what is not committed is not written."""
        return {}

    def fetch_ahead(self, ranges: Sequence[OffsetRange]) -> None:
        """Nothing: what is on this machine is read when it is asked for."""

    def read(
        self, partition: TopicPartition, start: int, end: int, *, headers: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """The records (schema STORED) with start <= offset < end; OutOfRangeError past either end."""
        with self._environment.reading() as txn:
            stream = log_streams.owner_of(txn, partition).id
            if start < end:
                check_range(partition, partition_extent.load_extent(txn, stream, partition.index), start, end)
        return read_range(self._environment, partition, stream, start, end, headers=headers)

    def latest(self, stream: str, *, settled: bool = True) -> Mapping[bytes, bytes]:
        """The newest value of every key of a compacted stream's partition 0; deleted keys are left out.

        Nothing is ever written but by a commit, so that what is found is always settled.
        """
        with self._environment.reading() as txn:
            log_stream = log_streams.owner_of(txn, TopicPartition(stream, 0))
            if not log_stream.options.compacted:
                raise ValueError(f'"{stream}" is not compacted: it does not keep the newest value of a key')
            return latest_index.newest_values(txn, log_stream.id)

    def begin(
        self,
        owner: str,
        incarnation: int,
        expected: Mapping[bytes, bytes | None] | None = None,
        writer: str = "",
        *,
        at_least_once: bool = False,
    ) -> EmbeddedTransaction:
        """Open a transaction for a lane; see `System.begin`. Who writes is of no account here.

        Nor is `at_least_once`: one commit is the cheapest way to write everything.
        """
        return EmbeddedTransaction(
            self._environment,
            TransactionOwner(owner, incarnation, expected),
            self._clock(),
            self._compression,
            self._after_commit,
        )

    def interrupt(self, owner: str, writers: Collection[str]) -> None:
        """Nothing: a transaction that has not been committed holds up nobody."""

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        """From now on nothing of a lower incarnation commits for that owner; what was open is void."""
        with self._environment.writing() as txn:
            fence(txn, owner, incarnation)

    def delete_before(self, positions: Mapping[TopicPartition, int]) -> None:
        """Records below these positions are read by nobody any more and go."""
        with self._environment.writing() as txn:
            for partition, position in positions.items():
                expiry.drop_below(txn, log_streams.owner_of(txn, partition).id, partition.index, position)

    def close(self) -> None:
        """Let go of the log; the last object of a process that does so closes it."""
        if not self._closed:
            self._closed = True
            self._environment.leave()

    def holdings(self, streams: Collection[str] | None = None) -> Mapping[str, StreamHolding]:
        """The holdings of streams, all at the same moment: of those of these that there are, or of all."""
        stream_holdings = {}
        with self._environment.reading() as txn:
            for name, stream in log_streams.all_streams(txn).items():
                if streams is not None and name not in streams:
                    continue
                extents = [
                    partition_extent.load_extent(txn, stream.id, index) for index in range(stream.partitions)
                ]
                records, size = sum(part.records for part in extents), sum(part.size for part in extents)
                stream_holdings[name] = StreamHolding(stream.partitions, stream.options, records, size)
        return stream_holdings

    def trouble(self) -> None:
        """Nothing: calls wait for disks alone."""

    def throttled_seconds(self) -> float:
        """None: there is no quota."""
        return 0.0

    def tidy(self) -> None:
        """Compact what is due however large, drop what is too old, and forget readers that were killed."""
        self._environment.forget_dead_readers()
        every = [
            TopicPartition(name, index) for name, count in self.streams().items() for index in range(count)
        ]
        maintain(self._environment, every, self._upkeep, self._clock(), self._compression)

    def _after_commit(self, written: Collection[TopicPartition]) -> None:
        # What was committed stays so: upkeep that finds no room is done by a later commit.
        with suppress(UnavailableError):
            largest = self._upkeep.compact_at_commit_bytes
            maintain(self._environment, written, self._upkeep, self._clock(), self._compression, largest)

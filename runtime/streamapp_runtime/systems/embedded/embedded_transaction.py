"""A lane's transaction: encoded while it is filled, and written while it commits."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import pyarrow as pa

from streamapp_runtime.systems.embedded import block_writes, latest_index, partition_extent, stream_table
from streamapp_runtime.systems.embedded.block import BLOCK_BYTES, Block, Compression, dense_blocks
from streamapp_runtime.systems.embedded.lmdb_environment import Environment, Txn
from streamapp_runtime.systems.embedded.map_keys import fence_address
from streamapp_runtime.systems.stream_system import (
    RECORDS,
    FencedError,
    UnknownStreamError,
    check_records,
    joined_records,
    unexpected_entry,
)
from streamapp_runtime.systems.topic_partition import TopicPartition


class AppendBuffer:
    """Records in the order in which they came."""

    def __init__(self, now_ms: int, compression: Compression | None) -> None:
        self._now_ms = now_ms
        self._compression = compression
        self._made: list[Block] = []
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        self.records = 0

    def add(self, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS, or that with headers)."""
        self._waiting.append(records)
        self.records += records.num_rows
        self._waiting_bytes += records.nbytes
        if self._waiting_bytes >= BLOCK_BYTES:
            self._encode()

    def blocks(self) -> list[Block]:
        """All that was added, as blocks."""
        self._encode()
        return self._made

    def _encode(self) -> None:
        if self._waiting:
            self._made += dense_blocks(joined_records(self._waiting), self._now_ms, self._compression)
        self._waiting, self._waiting_bytes = [], 0


@dataclass(frozen=True, slots=True)
class TransactionOwner:
    """In whose name a transaction writes, and what that lane takes for true."""

    owner: str
    incarnation: int
    expected: Mapping[bytes, bytes | None] | None


def fenced_with(txn: Txn, owner: str) -> int:
    """The highest incarnation that an owner was fenced with; 0 for one that never was."""
    row = txn.get(fence_address(owner))
    return 0 if row is None else int.from_bytes(row)


def fence(txn: Txn, owner: str, incarnation: int) -> None:
    """Let nothing of a lower incarnation commit from now on."""
    if incarnation > fenced_with(txn, owner):
        txn.put(fence_address(owner), incarnation.to_bytes(8))


class EmbeddedTransaction:
    """Appends and puts that are written by one commit. Nothing is locked before it.

    Records that are put follow those that are appended to the same partition.
    """

    def __init__(
        self,
        environment: Environment,
        claim: TransactionOwner,
        now_ms: int,
        compression: Compression | None,
        after_commit: Callable[[Collection[TopicPartition]], None],
    ) -> None:
        self._environment = environment
        self._claim = claim
        self._now_ms = now_ms
        self._compression = compression
        self._after_commit = after_commit
        self._appended: dict[TopicPartition, AppendBuffer] = {}
        self._put: dict[str, list[tuple[bytes, bytes | None]]] = {}
        self._streams: dict[TopicPartition, stream_table.LogStream] = {}
        self._open = True

    def append(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """Add records (schema RECORDS) to the end of a partition."""
        stream = self._stream(partition)
        check_records(partition, records)
        if stream.options.compacted and records.column(0).null_count:
            raise ValueError(f'a record without a key for {partition}: "{partition.topic}" is compacted')
        if records.num_rows:
            if partition not in self._appended:
                self._appended[partition] = AppendBuffer(self._now_ms, self._compression)
            self._appended[partition].add(records)

    def append_uncommitted(self, partition: TopicPartition, records: pa.RecordBatch) -> None:
        """The same: one commit for everything costs less here than two."""
        self.append(partition, records)

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one record to partition 0 of a compacted stream."""
        if not self._stream(TopicPartition(stream, 0)).options.compacted:
            raise ValueError(f'"{stream}" is not compacted: it does not keep the newest value of a key')
        self._put.setdefault(stream, []).append((key, value))

    def end_of(self, partition: TopicPartition) -> int:
        """The offset at which a partition's appended records end, as long as nobody else writes to it."""
        appended = self._appended.get(partition)
        with self._environment.reading() as txn:
            end = partition_extent.load_extent(txn, self._stream(partition).id, partition.index).end
        return end + (appended.records if appended else 0)

    def commit(self, _: Collection[str] | None = None, /) -> Mapping[TopicPartition, int]:
        """Make everything visible; gives the new ends of the partitions written to."""
        self._check_open()
        self._open = False
        appended_blocks = {partition: outgoing.blocks() for partition, outgoing in self._appended.items()}
        put = {
            stream: list(dense_blocks(_as_records(entries, self._now_ms), self._now_ms, self._compression))
            for stream, entries in self._put.items()
        }
        ends: dict[TopicPartition, int] = {}
        with self._environment.writing() as txn:
            self._check_claim(txn)
            for partition, blocks in appended_blocks.items():
                number = self._streams[partition].id
                ends[partition] = block_writes.append_blocks(
                    txn, number, partition.index, blocks, self._compression
                ).end
            for name, blocks in put.items():
                partition = TopicPartition(name, 0)
                number, entries = self._streams[partition].id, self._put[name]
                end = block_writes.append_blocks(txn, number, 0, blocks, self._compression).end
                latest_index.index_records(txn, number, end - len(entries), entries)
                ends[partition] = end
        self._after_commit(ends.keys())
        return ends

    def abort(self) -> None:
        """Drop everything."""
        self._open = False
        self._appended.clear()
        self._put.clear()

    def _stream(self, partition: TopicPartition) -> stream_table.LogStream:
        self._check_open()
        stream = self._streams.get(partition)
        if stream is None:  # a stream never goes and never shrinks, so what was seen once stays true
            with self._environment.reading() as txn:
                stream = self._streams[partition] = stream_table.owner_of(txn, partition)
        return stream

    def _check_open(self) -> None:
        if not self._open:
            raise ValueError("the transaction has ended; begin another one")

    def _check_claim(self, txn: Txn) -> None:
        owner, incarnation = self._claim.owner, self._claim.incarnation
        fenced = fenced_with(txn, owner)
        if fenced > incarnation:
            raise FencedError(f'"{owner}" is fenced for incarnation {fenced}; this is {incarnation}')
        if self._claim.expected is None:
            return
        stream = stream_table.find_stream(txn, owner)
        if stream is None:
            raise UnknownStreamError(f'no stream named "{owner}" to compare checkpoints with')
        key = latest_index.differing_key(txn, stream.id, self._claim.expected)
        if key is not None:
            raise unexpected_entry(owner, key)


def _as_records(entries: list[tuple[bytes, bytes | None]], now_ms: int) -> pa.RecordBatch:
    keys, values = zip(*entries, strict=True)
    times = [now_ms] * len(entries)
    return pa.RecordBatch.from_arrays(
        [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), pa.array(times, pa.int64())],
        schema=RECORDS,
    )

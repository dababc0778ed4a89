"""Reading a partition: which blocks hold a range of offsets, and the range as Arrow batches."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.systems.embedded import partition_extent
from streamapp_runtime.systems.embedded.block import read_header, stored_records, with_writing_times
from streamapp_runtime.systems.embedded.lmdb_environment import Environment, Txn
from streamapp_runtime.systems.embedded.map_keys import block_address, blocks_of, first_offset
from streamapp_runtime.systems.stream_system import OutOfRangeError
from streamapp_runtime.systems.topic_partition import TopicPartition

_BATCH_BYTES = 4 << 20
"""So much at a time makes decoding a tenth cheaper than a quarter of it does."""


def blocks_from(txn: Txn, stream: int, index: int, start: int = 0) -> Iterator[tuple[int, memoryview]]:
    """The blocks, each with its first offset, from the one that holds `start` or is next after it."""
    prefix = blocks_of(stream, index)
    with txn.cursor() as cursor:
        has_entry = cursor.set_range(block_address(stream, index, start))
        if not (has_entry and bytes(cursor.key()) == block_address(stream, index, start)):
            before = cursor.prev() if has_entry else cursor.last()
            if not (before and _holds(cursor.key(), cursor.value(), prefix, start)):
                has_entry = cursor.set_range(block_address(stream, index, start))
            else:
                has_entry = True
        while has_entry and bytes(cursor.key()[: len(prefix)]) == prefix:
            yield first_offset(cursor.key()), cursor.value()
            has_entry = cursor.next()


def _holds(address: memoryview, content: memoryview, prefix: bytes, offset: int) -> bool:
    if bytes(address[: len(prefix)]) != prefix:
        return False
    return first_offset(address) + read_header(content).span > offset


def last_blocks(txn: Txn, stream: int, index: int, count: int) -> list[tuple[int, memoryview]]:
    """Up to `count` blocks from the end of a partition, in order."""
    prefix = blocks_of(stream, index)
    blocks: list[tuple[int, memoryview]] = []
    with txn.cursor() as cursor:
        has_entry = cursor.set_range(block_address(stream, index + 1, 0))
        has_entry = cursor.prev() if has_entry else cursor.last()
        while has_entry and len(blocks) < count and bytes(cursor.key()[: len(prefix)]) == prefix:
            blocks.append((first_offset(cursor.key()), cursor.value()))
            has_entry = cursor.prev()
    return blocks[::-1]


def check_range(
    partition: TopicPartition, extent: partition_extent.PartitionExtent, start: int, end: int
) -> None:
    """Refuse a range that is not, or no longer, wholly in the partition."""
    if start < extent.oldest:
        raise OutOfRangeError(f"{partition} starts at {extent.oldest}, asked for was {start}")
    if end > extent.end:
        raise OutOfRangeError(f"{partition} ends at {extent.end}, asked for was up to {end}")


def offset_at(txn: Txn, stream: int, index: int, time_ms: int) -> int:
    """The first record that is not older than a time, the time of writing for one without; or the end."""
    extent = partition_extent.load_extent(txn, stream, index)
    for first, content in blocks_from(txn, stream, index, extent.oldest):
        if read_header(content).newest_ms < time_ms:
            continue
        records = with_writing_times(content, first)
        times = pc.coalesce(records.column("timestamp"), records.column("written"))
        wanted = pc.and_(
            pc.greater_equal(times, time_ms), pc.greater_equal(records.column("offset"), extent.oldest)
        )
        place: int = pc.index(wanted, value=True).as_py()
        if place >= 0:
            return int(records.column("offset")[place].as_py())
    return extent.end


def read_range(
    environment: Environment,
    partition: TopicPartition,
    stream: int,
    start: int,
    end: int,
    *,
    headers: bool = False,
) -> Iterator[pa.RecordBatch]:
    """The range's batches. No view of the log is held while the caller works on one."""
    position = start
    while position < end:
        with environment.reading() as txn:
            check_range(partition, partition_extent.load_extent(txn, stream, partition.index), position, end)
            batch, position = _next_batch(txn, stream, partition.index, position, end, headers)
        if batch is not None:
            yield batch


def _next_batch(
    txn: Txn, stream: int, index: int, start: int, end: int, headers: bool
) -> tuple[pa.RecordBatch | None, int]:
    """Neighbouring blocks as one batch, and the offset to go on from. Concatenating copies out of the map."""
    pieces: list[pa.RecordBatch] = []
    size = 0
    for first, content in blocks_from(txn, stream, index, start):
        if first >= end:
            break
        if size >= _BATCH_BYTES:
            return pa.concat_batches(pieces), first
        piece = _within(stored_records(content, first, headers=headers), start, end)
        if piece.num_rows:
            pieces.append(piece)
            size += len(content)
    return (pa.concat_batches(pieces) if pieces else None), end


def _within(batch: pa.RecordBatch, start: int, end: int) -> pa.RecordBatch:
    """The rows with start <= offset < end."""
    offsets = batch.column(0).to_numpy()
    low, high = offsets.searchsorted([start, end])
    return batch.slice(low, high - low)

"""Compaction: of a compacted stream only the newest record of each key stays, at its offset.

It works beside writers. Blocks are read and recreated outside the write transaction and exchanged inside it,
some at a time and from the oldest on: a deleted key's older values are gone before its tombstone goes.
Appends do not disturb it; where anything else touched the blocks, it stops, and nothing is lost by that.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.systems.embedded import latest_index, partition_extent
from streamapp_runtime.systems.embedded.block import (
    Block,
    Compression,
    read_header,
    sparse_blocks,
    stored_records,
    with_writing_times,
)
from streamapp_runtime.systems.embedded.block_reads import blocks_from
from streamapp_runtime.systems.embedded.block_writes import SMALL_BYTES, replace_blocks
from streamapp_runtime.systems.embedded.lmdb_environment import Environment, Txn

_EXCHANGED_AT_ONCE = 4 << 20


@dataclass(frozen=True, slots=True)
class _Exchange:
    old: tuple[int, ...]
    new: tuple[Block, ...]


def is_compaction_due(extent: partition_extent.PartitionExtent, at_least: int) -> bool:
    """True if as much was written since the last compaction as it left: each byte is rewritten once or so."""
    return extent.uncompacted > max(at_least, extent.size - extent.uncompacted)


def compact_partition(
    environment: Environment,
    stream: int,
    index: int,
    tombstones_before_ms: int,
    compression: Compression | None,
) -> bool:
    """Compact a partition as it is now, old tombstones too; False when someone else was at it as well."""
    with environment.writing() as txn:
        if index == 0 and latest_index.is_indexed(txn, stream):
            latest_index.complete_index(txn, stream)  # it would not see a tombstone that goes
        before = partition_extent.load_extent(txn, stream, index)
    newest_offsets = _newest_offsets(environment, stream, index, before.end)
    revision = before.revision
    for group in _groups(environment, stream, index, before.end):
        exchange = _exchange(
            environment, stream, index, group, newest_offsets, tombstones_before_ms, compression
        )
        if exchange is None:
            continue
        with environment.writing() as txn:
            extent = partition_extent.load_extent(txn, stream, index)
            if extent.revision != revision:
                return False
            extent = replace_blocks(txn, stream, index, extent, exchange.old, exchange.new)
            partition_extent.save_extent(txn, stream, index, replace(extent, small=0))
            revision = extent.revision
    with environment.writing() as txn:
        extent = partition_extent.load_extent(txn, stream, index)
        if extent.revision != revision:
            return False
        uncompacted = max(0, extent.uncompacted - before.uncompacted)
        partition_extent.save_extent(txn, stream, index, replace(extent, uncompacted=uncompacted, small=0))
    return True


def _newest_offsets(environment: Environment, stream: int, index: int, end: int) -> npt.NDArray[np.int64]:
    """The offsets, sorted, of the newest record of each key below `end`."""
    pieces = []
    with environment.reading() as txn:
        for first, content in _below(txn, stream, index, end):
            pieces.append(
                pa.concat_batches([stored_records(content, first).select(["offset", "key"])])
            )  # a copy
    if not pieces:
        return np.array([], dtype=np.int64)
    newest_of_keys = (
        pa.Table.from_batches(pieces).group_by("key", use_threads=False).aggregate([("offset", "max")])
    )
    return np.sort(newest_of_keys.column("offset_max").to_numpy())


def _groups(environment: Environment, stream: int, index: int, end: int) -> Iterator[tuple[int, ...]]:
    """Neighbouring blocks, as many as are exchanged at once, by their first offsets."""
    with environment.reading() as txn:
        sizes = [(first, len(content)) for first, content in _below(txn, stream, index, end)]
    group: list[int] = []
    total = 0
    for first, size in sizes:
        group.append(first)
        total += size
        if total >= _EXCHANGED_AT_ONCE:
            yield tuple(group)
            group, total = [], 0
    if group:
        yield tuple(group)


def _exchange(
    environment: Environment,
    stream: int,
    index: int,
    group: tuple[int, ...],
    newest_offsets: npt.NDArray[np.int64],
    tombstones_before_ms: int,
    compression: Compression | None,
) -> _Exchange | None:
    """The blocks that take the place of a group; None where they would be the same."""
    with environment.reading() as txn:
        blocks = list(_below(txn, stream, index, group[-1] + 1, start=group[0]))
        if not blocks:
            return None
        headers = any(read_header(content).headers for _, content in blocks)
        whole = pa.concat_batches(
            [with_writing_times(content, first, headers=headers) for first, content in blocks]
        )
        tiny = len(blocks) > 1 and any(len(content) < SMALL_BYTES for _, content in blocks)
        left = whole.filter(_stays(whole, newest_offsets, tombstones_before_ms))
        if left.num_rows == whole.num_rows and not tiny:
            return None
        return _Exchange(tuple(first for first, _ in blocks), tuple(sparse_blocks(left, compression)))


def _stays(
    records: pa.RecordBatch, newest_offsets: npt.NDArray[np.int64], tombstones_before_ms: int
) -> pa.Array:
    newest_of_key = pa.array(np.isin(records.column(0).to_numpy(), newest_offsets, assume_unique=True))
    forgotten = pc.and_(pc.is_null(records.column(2)), pc.less_equal(records.column(4), tombstones_before_ms))
    return pc.and_not(newest_of_key, forgotten)


def _below(txn: Txn, stream: int, index: int, end: int, start: int = 0) -> Iterator[tuple[int, memoryview]]:
    for first, content in blocks_from(txn, stream, index, start):
        if first >= end:
            return
        yield first, content

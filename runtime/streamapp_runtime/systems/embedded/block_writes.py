"""Putting blocks into a partition: at its end, together when they are small, and instead of others."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from streamapp_runtime.systems.embedded import partition_extent
from streamapp_runtime.systems.embedded.block import (
    Block,
    Compression,
    dense_blocks,
    read_header,
    stored_records,
)
from streamapp_runtime.systems.embedded.block_reads import last_blocks
from streamapp_runtime.systems.embedded.lmdb_environment import Txn
from streamapp_runtime.systems.embedded.map_keys import block_address
from streamapp_runtime.systems.stream_system import RECORDS, RECORDS_WITH_HEADERS

SMALL_BYTES = 16 << 10
_MERGED_AT_ONCE = 64


def append_blocks(
    txn: Txn, stream: int, index: int, blocks: Sequence[Block], compression: Compression | None
) -> partition_extent.PartitionExtent:
    """Put dense blocks at the end; gives what the partition holds then."""
    extent = partition_extent.load_extent(txn, stream, index)
    for block in blocks:
        txn.put(block_address(stream, index, extent.end), block.content)
        extent = replace(
            extent,
            end=extent.end + block.header.records,
            records=extent.records + block.header.records,
            size=extent.size + len(block.content),
            uncompacted=extent.uncompacted + len(block.content),
            small=extent.small + 1 if len(block.content) < SMALL_BYTES else 0,
        )
        if extent.small >= _MERGED_AT_ONCE:
            extent = _merge_small(txn, stream, index, extent, compression)
    partition_extent.save_extent(txn, stream, index, extent)
    return extent


def replace_blocks(
    txn: Txn,
    stream: int,
    index: int,
    extent: partition_extent.PartitionExtent,
    old: Iterable[int],
    new: Iterable[Block],
) -> partition_extent.PartitionExtent:
    """Put blocks that know their first offset in the place of those that begin at `old`."""
    records, size = extent.records, extent.size
    for first in old:
        content = txn.pop(block_address(stream, index, first))
        if content is not None:
            records -= read_header(content).records
            size -= len(content)
    for block in new:
        txn.put(block_address(stream, index, block.first), block.content)
        records += block.header.records
        size += len(block.content)
    return replace(extent, records=records, size=size, revision=extent.revision + 1)


def _merge_small(
    txn: Txn,
    stream: int,
    index: int,
    extent: partition_extent.PartitionExtent,
    compression: Compression | None,
) -> partition_extent.PartitionExtent:
    """Make one block of the small ones at the end: many small commits shall not make many small blocks."""
    small = last_blocks(txn, stream, index, extent.small)
    extent = replace(extent, small=0)
    if not small or any(read_header(content).sparse for _, content in small):
        return extent
    written = max(read_header(content).written_ms for _, content in small)
    headers = any(read_header(content).headers for _, content in small)
    columns = (RECORDS_WITH_HEADERS if headers else RECORDS).names
    records = pa.concat_batches(
        [stored_records(content, first, headers=headers).select(columns) for first, content in small]
    )
    merged, first = [], small[0][0]
    for block in dense_blocks(records, written, compression):
        merged.append(replace(block, first=first))
        first += block.header.records
    return replace_blocks(txn, stream, index, extent, [first for first, _ in small], merged)

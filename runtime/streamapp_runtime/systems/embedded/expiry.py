"""Letting old records go: those that nobody reads any more, and those older than their stream keeps them."""

from dataclasses import replace

from streamapp_runtime.systems.embedded import partition_extent
from streamapp_runtime.systems.embedded.block import read_header
from streamapp_runtime.systems.embedded.block_reads import blocks_from
from streamapp_runtime.systems.embedded.block_writes import replace_blocks
from streamapp_runtime.systems.embedded.lmdb_environment import Txn
from streamapp_runtime.systems.embedded.stream_table import LogStream


def drop_below(txn: Txn, stream: int, index: int, position: int) -> None:
    """Make a position the oldest; blocks wholly below it go."""
    extent = partition_extent.load_extent(txn, stream, index)
    oldest = min(position, extent.end)
    if oldest <= extent.oldest:
        return
    removed_blocks = []
    for first, content in blocks_from(txn, stream, index):
        if first + read_header(content).span > oldest:
            break
        removed_blocks.append(first)
    extent = replace_blocks(txn, stream, index, extent, removed_blocks, []) if removed_blocks else extent
    partition_extent.save_extent(txn, stream, index, replace(extent, oldest=oldest))


def expired_below(txn: Txn, stream: LogStream, index: int, now_ms: int) -> int | None:
    """The position up to which a partition begins with blocks all of whose records are too old."""
    if stream.options.retention_ms is None:
        return None
    position = None
    for first, content in blocks_from(txn, stream.id, index):
        header = read_header(content)
        if header.newest_ms >= now_ms - stream.options.retention_ms:
            break
        position = first + header.span
    return position

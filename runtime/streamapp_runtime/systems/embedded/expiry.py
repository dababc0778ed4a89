"""Letting old records go: those that nobody reads any more, and those older than their stream keeps them."""

from dataclasses import replace

from streamapp_runtime.systems.embedded import extent
from streamapp_runtime.systems.embedded.block import header_of
from streamapp_runtime.systems.embedded.environment import Txn
from streamapp_runtime.systems.embedded.placing import replace_blocks
from streamapp_runtime.systems.embedded.reading import blocks
from streamapp_runtime.systems.embedded.streams import Stream


def drop_below(txn: Txn, stream: int, index: int, position: int) -> None:
    """Make a position the oldest; blocks wholly below it go."""
    held = extent.load(txn, stream, index)
    oldest = min(position, held.end)
    if oldest <= held.oldest:
        return
    gone = []
    for first, content in blocks(txn, stream, index):
        if first + header_of(content).span > oldest:
            break
        gone.append(first)
    held = replace_blocks(txn, stream, index, held, gone, []) if gone else held
    extent.save(txn, stream, index, replace(held, oldest=oldest))


def expired_below(txn: Txn, stream: Stream, index: int, now_ms: int) -> int | None:
    """The position up to which a partition begins with blocks all of whose records are too old."""
    if stream.options.retention_ms is None:
        return None
    position = None
    for first, content in blocks(txn, stream.id, index):
        header = header_of(content)
        if header.newest_ms >= now_ms - stream.options.retention_ms:
            break
        position = first + header.span
    return position

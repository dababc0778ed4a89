"""The extent of a partition, as one row: its offsets, its size, and what its upkeep goes by."""

import struct
from dataclasses import dataclass

from streamapp_runtime.systems.embedded.lmdb_environment import Txn
from streamapp_runtime.systems.embedded.map_keys import extent_address

_row = struct.Struct("<QQQQQQI")


@dataclass(frozen=True, slots=True)
class PartitionExtent:
    """The state of a partition; a new one is all zeros."""

    oldest: int = 0  # offsets below are gone
    end: int = 0  # the next record's offset
    records: int = 0
    size: int = 0  # bytes of its blocks
    uncompacted: int = 0  # bytes added since the last compaction
    revision: int = 0  # raised when blocks that were there are replaced
    small: int = 0  # how many blocks at the end are small and were never merged


def load_extent(txn: Txn, stream: int, index: int) -> PartitionExtent:
    """A partition's extent."""
    row = txn.get(extent_address(stream, index))
    return PartitionExtent() if row is None else PartitionExtent(*_row.unpack(row))


def save_extent(txn: Txn, stream: int, index: int, extent: PartitionExtent) -> None:
    """Write a partition's extent."""
    row = _row.pack(
        extent.oldest,
        extent.end,
        extent.records,
        extent.size,
        extent.uncompacted,
        extent.revision,
        extent.small,
    )
    txn.put(extent_address(stream, index), row)

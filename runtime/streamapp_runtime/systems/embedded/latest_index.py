"""The newest value of every key of a compacted stream's first partition, without a scan.

An index holds it as far as it reaches. What is written record by record, as checkpoints are, enters the index
with the same commit. Large appends, as of changelogs, leave it behind: the rest is read when it is asked for.
"""

import struct
from collections.abc import Iterable, Mapping

from streamapp_runtime.systems.embedded import partition_extent
from streamapp_runtime.systems.embedded.block import stored_records
from streamapp_runtime.systems.embedded.block_reads import blocks_from
from streamapp_runtime.systems.embedded.lmdb_environment import Txn
from streamapp_runtime.systems.embedded.map_keys import indexed_address, newest_address, newest_of

_position = struct.Struct("<Q")
_entry = struct.Struct("<QI")


def newest_values(txn: Txn, stream: int) -> dict[bytes, bytes]:
    """The newest value of every key that is not deleted."""
    extent = partition_extent.load_extent(txn, stream, 0)
    values: dict[bytes, bytes] = {}
    with txn.cursor() as cursor:
        has_entry = cursor.set_range(newest_of(stream))
        while has_entry and bytes(cursor.key()[:5]) == newest_of(stream):
            offset, key, value = _unpack(cursor.value())
            if offset >= extent.oldest:
                values[key] = value
            has_entry = cursor.next()
    for _, key, newer in _after(txn, stream, max(_indexed(txn, stream), extent.oldest)):
        if newer is None:
            values.pop(key, None)
        else:
            values[key] = newer
    return values


def differing_key(txn: Txn, stream: int, expected: Mapping[bytes, bytes | None]) -> bytes | None:
    """The first key whose newest value is not the expected one. Needs a writer's `txn`."""
    complete_index(txn, stream)
    oldest = partition_extent.load_extent(txn, stream, 0).oldest
    for key, value in expected.items():
        row = txn.get(newest_address(stream, key))
        offset, _, stored_value = (0, key, None) if row is None else _unpack(row)
        if (stored_value if offset >= oldest else None) != value:
            return key
    return None


def index_records(txn: Txn, stream: int, first: int, entries: Iterable[tuple[bytes, bytes | None]]) -> None:
    """Enter the records written from offset `first` on, if the index reaches so far."""
    if _indexed(txn, stream) == first:
        _enter(txn, stream, [(first + place, key, value) for place, (key, value) in enumerate(entries)])


def complete_index(txn: Txn, stream: int) -> None:
    """Make the index reach to the end."""
    start, extent = _indexed(txn, stream), partition_extent.load_extent(txn, stream, 0)
    if start < extent.end:
        _enter(txn, stream, _after(txn, stream, max(start, extent.oldest)))
        txn.put(indexed_address(stream), _position.pack(extent.end))


def is_indexed(txn: Txn, stream: int) -> bool:
    """True if anything was ever entered."""
    return _indexed(txn, stream) > 0


def _enter(txn: Txn, stream: int, records: list[tuple[int, bytes, bytes | None]]) -> None:
    for offset, key, value in records:
        if value is None:
            txn.delete(newest_address(stream, key))
        else:
            txn.put(newest_address(stream, key), _entry.pack(offset, len(key)) + key + value)
    if records:
        txn.put(indexed_address(stream), _position.pack(records[-1][0] + 1))


def _after(txn: Txn, stream: int, start: int) -> list[tuple[int, bytes, bytes | None]]:
    entries: list[tuple[int, bytes, bytes | None]] = []
    for first, content in blocks_from(txn, stream, 0, start):
        offsets, keys, values, _ = (column.to_pylist() for column in stored_records(content, first).columns)
        entries += [entry for entry in zip(offsets, keys, values, strict=True) if entry[0] >= start]
    return entries


def _indexed(txn: Txn, stream: int) -> int:
    row = txn.get(indexed_address(stream))
    return 0 if row is None else int(_position.unpack(row)[0])


def _unpack(row: memoryview) -> tuple[int, bytes, bytes]:
    offset, length = _entry.unpack_from(row)
    content = bytes(row[_entry.size :])
    return offset, content[:length], content[length:]

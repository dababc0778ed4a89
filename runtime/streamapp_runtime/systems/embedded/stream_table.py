"""The streams of the log: each with a number, a partition count, and how it keeps its records."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamapp_runtime.systems.embedded.lmdb_environment import Txn
from streamapp_runtime.systems.embedded.map_keys import (
    LAST_ID,
    STREAMS,
    blocks_of,
    extent_address,
    indexed_address,
    newest_of,
    stream_address,
)
from streamapp_runtime.systems.stream_system import StreamOptions, UnknownStreamError
from streamapp_runtime.systems.topic_partition import TopicPartition

_row = struct.Struct("<II?q")
_number = struct.Struct("<I")
_FOR_EVER = -1
_LONGEST_NAME = 249  # as in Kafka


@dataclass(frozen=True, slots=True)
class LogStream:
    """One stream. Its number is its part of every address, and is never used again."""

    id: int
    partitions: int
    options: StreamOptions


def all_streams(txn: Txn) -> Mapping[str, LogStream]:
    """Every stream, sorted by name."""
    streams = {}
    with txn.cursor() as cursor:
        has_entry = cursor.set_range(STREAMS)
        while has_entry and bytes(cursor.key()[:1]) == STREAMS:
            streams[bytes(cursor.key()[1:]).decode()] = _unpack(cursor.value())
            has_entry = cursor.next()
    return streams


def find_stream(txn: Txn, name: str) -> LogStream | None:
    """The stream of this name."""
    if not 0 < len(name.encode()) <= _LONGEST_NAME:
        return None
    row = txn.get(stream_address(name))
    return None if row is None else _unpack(row)


def owner_of(txn: Txn, partition: TopicPartition) -> LogStream:
    """The stream that a partition belongs to; an `UnknownStreamError` where there is no such partition."""
    stream = find_stream(txn, partition.topic)
    if stream is None:
        raise UnknownStreamError(f'no stream named "{partition.topic}"')
    if not 0 <= partition.index < stream.partitions:
        raise UnknownStreamError(f'no partition {partition}: "{partition.topic}" has {stream.partitions}')
    return stream


def create_stream(txn: Txn, name: str, partitions: int, options: StreamOptions) -> None:
    """Make a stream, unless the same is there."""
    if not 0 < len(name.encode()) <= _LONGEST_NAME:
        raise ValueError(f"a stream's name has 1 to {_LONGEST_NAME} bytes, found {len(name.encode())}")
    if partitions < 1:
        raise ValueError(f'the stream "{name}" needs at least one partition, found {partitions}')
    existing = find_stream(txn, name)
    if existing is None:
        last = txn.get(LAST_ID)
        number = 1 if last is None else _number.unpack(last)[0] + 1
        txn.put(LAST_ID, _number.pack(number))
        _save(txn, name, LogStream(number, partitions, options))
    elif (existing.partitions, existing.options) != (partitions, options):
        raise ValueError(
            f'the stream "{name}" exists with {existing.partitions} partitions ({existing.options}); '
            f"asked for were {partitions} ({options})"
        )


def grow_stream(txn: Txn, name: str, partitions: int) -> None:
    """Add partitions at the end."""
    existing = owner_of(txn, TopicPartition(name, 0))
    if partitions < existing.partitions:
        raise ValueError(
            f'the stream "{name}" has {existing.partitions} partitions and cannot shrink to {partitions}'
        )
    _save(txn, name, replace(existing, partitions=partitions))


def delete_stream(txn: Txn, name: str) -> None:
    """Take a stream away, with its records; its number is not used again."""
    stream = owner_of(txn, TopicPartition(name, 0))
    for index in range(stream.partitions):
        _delete_below(txn, blocks_of(stream.id, index))
        txn.delete(extent_address(stream.id, index))
    _delete_below(txn, newest_of(stream.id))
    txn.delete(indexed_address(stream.id))
    txn.delete(stream_address(name))


def _delete_below(txn: Txn, prefix: bytes) -> None:
    with txn.cursor() as cursor:
        has_entry = cursor.set_range(prefix)
        while has_entry and bytes(cursor.key()[: len(prefix)]) == prefix:
            has_entry = cursor.delete() and bool(cursor.key())


def _save(txn: Txn, name: str, stream: LogStream) -> None:
    retention_ms = _FOR_EVER if stream.options.retention_ms is None else stream.options.retention_ms
    txn.put(
        stream_address(name), _row.pack(stream.id, stream.partitions, stream.options.compacted, retention_ms)
    )


def _unpack(row: memoryview) -> LogStream:
    number, partitions, compacted, retention_ms = _row.unpack(row)
    return LogStream(
        number, partitions, StreamOptions(compacted, None if retention_ms == _FOR_EVER else retention_ms)
    )

"""The partition that a key belongs to: where Kafka's producers put it, computed for a whole batch.

The Java clients hash by murmur2 (a public algorithm of Austin Appleby, with their seed), librdkafka's default
partitioner by CRC-32, as zlib has it. Here a hash goes over all keys at once, four bytes of each at a time.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from streamapp.spec.value_types.partitioner_names import (
    DEFAULT_PARTITIONER,
    PARTITIONERS,
    PartitionerName,
)
from streamapp_runtime.rows.byte_columns import byte_spans

_SEED = np.uint32(0x9747B28C)
_MULTIPLIER = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_ALL_BITS = np.uint32(0xFFFFFFFF)
_LOW_BYTE = np.uint32(0xFF)
_POLYNOMIAL = np.uint32(0xEDB88320)
_TAIL_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)
_BLOCK_KEYS = 1 << 15
"""So many keys at a time, for what is computed of them to stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class _KeyHash:
    """A hash of keys of one length, each step for all of them at once and in place."""

    seed: Callable[[int], np.uint32]  # by the keys' length
    mix: Callable[[np.ndarray, np.ndarray], None]  # a word of each
    mix_tail: Callable[[np.ndarray, np.ndarray, int], None]  # what is behind the last word, and its length
    finish: Callable[[np.ndarray], None]
    bits: np.uint32  # of the hash that count for the partition


def partition_of(
    keys: pa.Array,
    count: int,
    start: int = 0,
    *,
    partitioner: PartitionerName = DEFAULT_PARTITIONER,
    nulls_together: bool = False,
) -> np.ndarray:
    """The partition of each key; null keys take turns from partition `start` on, or are all put there."""
    bits = _HASHES[partitioner].bits
    partitions = ((key_hashes(keys, partitioner) & bits) % np.uint32(count)).astype(np.int32)
    if keys.null_count:
        nulls = np.asarray(keys.is_null())
        turns = 0 if nulls_together else np.arange(np.count_nonzero(nulls))
        partitions[nulls] = (start + turns) % count
    return partitions


def by_partition(records: pa.RecordBatch, partitions: np.ndarray) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The records of each partition that has some, in their order."""
    sorted_records = records.take(pa.array(np.argsort(partitions, kind="stable")))
    start = 0
    for index, length in enumerate(np.bincount(partitions).tolist()):
        if length:
            yield index, sorted_records.slice(start, length)
        start += length


def key_hashes(keys: pa.Array, partitioner: PartitionerName = DEFAULT_PARTITIONER) -> np.ndarray:
    """The hash of each key's bytes, unsigned; of a null key it means nothing."""
    bounds, data = byte_spans(keys)
    key_hash = _HASHES[partitioner]
    hashes = np.empty(len(keys), np.uint32)
    for start in range(0, len(keys), _BLOCK_KEYS):
        block = bounds[start : start + _BLOCK_KEYS + 1]
        content = data[block[0] : block[-1]]
        lengths = np.diff(block)
        part = hashes[start : start + _BLOCK_KEYS]
        if (lengths == lengths[0]).all():
            _hash_even(key_hash, part, content, int(lengths[0]))
        else:
            _hash_uneven(key_hash, part, content, block[:-1] - block[0], lengths)
    return hashes


def _hash_even(key_hash: _KeyHash, hashes: np.ndarray, content: np.ndarray, length: int) -> None:
    """Keys of one length: each of their words is a column of a matrix, so that nothing is looked up."""
    matrix = content.reshape(len(hashes), length)
    hashes[:] = key_hash.seed(length)
    whole = length // 4 * 4
    for at in range(0, whole, 4):
        key_hash.mix(hashes, np.ndarray(len(hashes), "<u4", content, at, (length,)))
    if whole < length:
        tail = np.zeros(len(hashes), np.uint32)
        for at in range(whole, length):
            tail |= matrix[:, at].astype(np.uint32) << np.uint32(8 * (at - whole))
        key_hash.mix_tail(hashes, tail, length - whole)
    key_hash.finish(hashes)


def _hash_uneven(
    key_hash: _KeyHash, hashes: np.ndarray, content: np.ndarray, starts: np.ndarray, lengths: np.ndarray
) -> None:
    """Keys of several lengths, those of each length together."""
    words = _words(content)
    small = lengths.astype(np.uint16) if lengths.max() < 1 << 16 else lengths  # numpy sorts these faster
    order = np.argsort(small, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        length, places = int(lengths[rows[0]]), starts[rows]
        of_rows = np.full(len(rows), key_hash.seed(length))
        for at in range(0, length // 4 * 4, 4):
            key_hash.mix(of_rows, words[places + at])
        if tail_length := length % 4:
            tail = words[places + length // 4 * 4] & _TAIL_MASKS[tail_length]
            key_hash.mix_tail(of_rows, tail, tail_length)
        key_hash.finish(of_rows)
        hashes[rows] = of_rows


def _words(data: np.ndarray) -> np.ndarray:
    """The four bytes from each place on as one number, little end first; behind the end are zeros."""
    padded = np.zeros(len(data) + 4, np.uint8)
    padded[: len(data)] = data
    return np.ndarray((len(data) + 1,), "<u4", padded, strides=(1,))


def _mix_murmur2(hashes: np.ndarray, word: np.ndarray) -> None:
    mixed = word * _MULTIPLIER
    mixed ^= mixed >> _R
    mixed *= _MULTIPLIER
    hashes *= _MULTIPLIER
    hashes ^= mixed


def _mix_murmur2_tail(hashes: np.ndarray, tail: np.ndarray, _: int) -> None:
    hashes ^= tail
    hashes *= _MULTIPLIER


def _finish_murmur2(hashes: np.ndarray) -> None:
    hashes ^= hashes >> np.uint32(13)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint32(15)


def _crc32_tables() -> tuple[np.ndarray, ...]:
    """By distance to the end of a word, what a byte there does to the hash."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & np.uint32(1), (table >> np.uint32(1)) ^ _POLYNOMIAL, table >> np.uint32(1))
    tables = [table]
    for _ in range(3):
        tables.append((tables[-1] >> np.uint32(8)) ^ table[tables[-1] & _LOW_BYTE])
    return tuple(tables)


_CRC32_TABLES: Final = _crc32_tables()


def _mix_crc32(hashes: np.ndarray, word: np.ndarray) -> None:
    hashes ^= word
    first, second, third = (hashes >> np.uint32(shift) & _LOW_BYTE for shift in (0, 8, 16))
    hashes >>= np.uint32(24)
    hashes[:] = _CRC32_TABLES[0][hashes]
    hashes ^= _CRC32_TABLES[3][first]
    hashes ^= _CRC32_TABLES[2][second]
    hashes ^= _CRC32_TABLES[1][third]


def _mix_crc32_tail(hashes: np.ndarray, tail: np.ndarray, length: int) -> None:
    hashes ^= tail
    for _ in range(length):
        entries = _CRC32_TABLES[0][hashes & _LOW_BYTE]
        hashes >>= np.uint32(8)
        hashes ^= entries


def _finish_crc32(hashes: np.ndarray) -> None:
    hashes ^= _ALL_BITS


_HASHES: Final[Mapping[PartitionerName, _KeyHash]] = {
    # Java's modulo is signed: the clients leave the sign out.
    "murmur2": _KeyHash(
        lambda length: np.uint32(length) ^ _SEED,
        _mix_murmur2,
        _mix_murmur2_tail,
        _finish_murmur2,
        np.uint32(0x7FFFFFFF),
    ),
    "crc32": _KeyHash(lambda _: _ALL_BITS, _mix_crc32, _mix_crc32_tail, _finish_crc32, _ALL_BITS),
}
if missing := set(PARTITIONERS) - _HASHES.keys():
    raise TypeError(f"partitioners without a hash: {missing}")

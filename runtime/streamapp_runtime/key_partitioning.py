"""Which partition a key belongs to: where Kafka's Java producers put it, computed for a whole batch.

The hash is murmur2 as those producers have it (a public algorithm of Austin Appleby, with their seed). Here
it goes over all keys at once, four bytes of each at a time.
"""

import numpy as np
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_spans

_SEED = np.uint32(0x9747B28C)
_MULTIPLIER = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_POSITIVE = np.uint32(0x7FFFFFFF)
_TAIL_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)
_BLOCK_KEYS = 1 << 15
"""So many keys at a time, for what is computed of them to stay in the processor's cache."""


def partition_of(keys: pa.Array, count: int, start: int = 0, *, nulls_together: bool = False) -> np.ndarray:
    """The partition of each key; null keys take turns from partition `start` on, or are all put there."""
    partitions = ((murmur2(keys) & _POSITIVE) % np.uint32(count)).astype(np.int32)
    if keys.null_count:
        nulls = np.asarray(keys.is_null())
        turns = 0 if nulls_together else np.arange(np.count_nonzero(nulls))
        partitions[nulls] = (start + turns) % count
    return partitions


def murmur2(keys: pa.Array) -> np.ndarray:
    """The hash of each key's bytes, unsigned; of a null key it means nothing."""
    bounds, data = byte_spans(keys)
    hashes = np.empty(len(keys), np.uint32)
    for start in range(0, len(keys), _BLOCK_KEYS):
        block = bounds[start : start + _BLOCK_KEYS + 1]
        content = data[block[0] : block[-1]]
        lengths = np.diff(block)
        if (lengths == lengths[0]).all():
            _hash_even(hashes[start : start + _BLOCK_KEYS], content, int(lengths[0]))
        else:
            _hash_uneven(hashes[start : start + _BLOCK_KEYS], content, block[:-1] - block[0], lengths)
    return hashes


def _hash_even(hashes: np.ndarray, content: np.ndarray, length: int) -> None:
    """Keys of one length: each of their words is a column of a matrix, so that nothing is looked up."""
    matrix = content.reshape(len(hashes), length)
    hashes[:] = np.uint32(length) ^ _SEED
    whole = length // 4 * 4
    for at in range(0, whole, 4):
        _mix(hashes, np.ndarray(len(hashes), "<u4", content, at, (length,)))
    if whole < length:
        tail = np.zeros(len(hashes), np.uint32)
        for at in range(whole, length):
            tail |= matrix[:, at].astype(np.uint32) << np.uint32(8 * (at - whole))
        hashes ^= tail
        hashes *= _MULTIPLIER
    _finish(hashes)


def _hash_uneven(hashes: np.ndarray, content: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> None:
    """Keys of several lengths, those of each length together."""
    words = _words(content)
    small = lengths.astype(np.uint16) if lengths.max() < 1 << 16 else lengths  # numpy sorts these faster
    order = np.argsort(small, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        length, places = int(lengths[rows[0]]), starts[rows]
        of_rows = np.full(len(rows), np.uint32(length) ^ _SEED)
        for at in range(0, length // 4 * 4, 4):
            _mix(of_rows, words[places + at])
        if length % 4:
            of_rows ^= words[places + length // 4 * 4] & _TAIL_MASKS[length % 4]
            of_rows *= _MULTIPLIER
        _finish(of_rows)
        hashes[rows] = of_rows


def _words(data: np.ndarray) -> np.ndarray:
    """The four bytes from each place on as one number, little end first; behind the end are zeros."""
    padded = np.zeros(len(data) + 4, np.uint8)
    padded[: len(data)] = data
    return np.ndarray((len(data) + 1,), "<u4", padded, strides=(1,))


def _mix(hashes: np.ndarray, word: np.ndarray) -> None:
    mixed = word * _MULTIPLIER
    mixed ^= mixed >> _R
    mixed *= _MULTIPLIER
    hashes *= _MULTIPLIER
    hashes ^= mixed


def _finish(hashes: np.ndarray) -> None:
    hashes ^= hashes >> np.uint32(13)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint32(15)

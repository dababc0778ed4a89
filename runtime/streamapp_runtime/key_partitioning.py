"""Which partition a key belongs to: where Kafka's Java producers put it, computed for a whole batch.

The hash is murmur2 as those producers have it (a public algorithm of Austin Appleby, with their seed). Here
it goes over all keys at once, four bytes of each at a time.
"""

import numpy as np
import pyarrow as pa

from streamapp_runtime.formats.byte_spans import byte_spans

_SEED = np.uint32(0x9747B28C)
_MULTIPLIER = np.uint32(0x5BD1E995)
_R = np.uint32(24)
_POSITIVE = np.uint32(0x7FFFFFFF)


def partition_of(keys: pa.Array, count: int, start: int = 0) -> np.ndarray:
    """The partition of each key; null keys take turns, beginning with partition `start`."""
    partitions = ((murmur2(keys) & _POSITIVE) % np.uint32(count)).astype(np.int32)
    if keys.null_count:
        nulls = np.asarray(keys.is_null())
        partitions[nulls] = (start + np.arange(np.count_nonzero(nulls))) % count
    return partitions


def murmur2(keys: pa.Array) -> np.ndarray:
    """The hash of each key's bytes, unsigned; of a null key it means nothing."""
    bounds, data = byte_spans(keys)
    starts, lengths = bounds[:-1], np.diff(bounds)
    words = _words(data)
    hashes = lengths.astype(np.uint32) ^ _SEED
    whole = lengths // 4
    fewest, most = (int(whole.min()), int(whole.max())) if len(whole) else (0, 0)
    for at in range(fewest):
        hashes = _mixed(hashes, words[starts + 4 * at])
    left = np.flatnonzero(whole > fewest)
    for at in range(fewest, most):
        left = left[whole[left] > at]
        hashes[left] = _mixed(hashes[left], words[starts[left] + 4 * at])
    return _finished(_with_tail(hashes, words, starts + 4 * whole, lengths % 4))


def _words(data: np.ndarray) -> np.ndarray:
    """The four bytes from each place on as one number, little end first; behind the end are zeros."""
    padded = np.zeros(len(data) + 4, np.uint8)
    padded[: len(data)] = data
    return np.ndarray((len(data) + 1,), "<u4", padded, strides=(1,))


def _mixed(hashes: np.ndarray, word: np.ndarray) -> np.ndarray:
    word = word * _MULTIPLIER
    word ^= word >> _R
    word *= _MULTIPLIER
    word ^= hashes * _MULTIPLIER
    return word


def _with_tail(
    hashes: np.ndarray, words: np.ndarray, places: np.ndarray, tail_lengths: np.ndarray
) -> np.ndarray:
    """The one to three bytes behind the last whole word."""
    some = np.flatnonzero(tail_lengths)
    mask = np.uint32(0xFFFFFF) >> (8 * (3 - tail_lengths[some])).astype(np.uint32)
    hashes[some] = (hashes[some] ^ (words[places[some]] & mask)) * _MULTIPLIER
    return hashes


def _finished(hashes: np.ndarray) -> np.ndarray:
    hashes ^= hashes >> np.uint32(13)
    hashes *= _MULTIPLIER
    hashes ^= hashes >> np.uint32(15)
    return hashes

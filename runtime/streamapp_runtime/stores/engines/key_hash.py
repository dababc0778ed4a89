"""A hash of each key of a column, by a seed that nobody knows.

Whoever sends records chooses the keys. A plain mix of words has pairs of keys that fall together whatever the
seed is; here each half word is multiplied with a number of its own (multilinear hashing), so that two keys
fall together for at most one seed in about four thousand million, whatever keys they are.
"""

from hashlib import blake2b
from secrets import randbits

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.rows.byte_columns import byte_spans, numbers

Hashes = npt.NDArray[np.uint64]

_WORD = 8
_LONG = 256
"""Beyond so many bytes a key is hashed by itself: a pass per word over few keys would cost more."""

_MASKS: Hashes = np.array([(1 << (8 * count)) - 1 for count in range(_WORD + 1)], np.uint64)
_LOW, _HALF, _SHIFT = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(29)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def secret_seed() -> int:
    """A seed that nobody knows."""
    return randbits(64)


def hash_keys(keys: pa.BinaryArray, seed: int) -> Hashes:
    """A hash of each key. No key is null."""
    bounds, content = byte_spans(keys)
    starts, lengths = bounds[:-1], np.diff(bounds)
    # Eight bytes are read from any place; what is beyond the key is masked.
    content = np.append(content, np.zeros(_WORD, np.uint8))
    most = min(int(lengths.max(initial=0)), _LONG)
    factors: Hashes = np.random.PCG64(seed).random_raw(2 * _LONG // _WORD + 1)
    sums = lengths.astype(np.uint64) * factors[-1]
    for number, at in enumerate(range(0, most, _WORD)):
        remaining = lengths - at
        longer = slice(None) if remaining.min() > 0 else np.flatnonzero(remaining > 0)
        words = numbers(content, starts[longer] + at, "<u8") & _MASKS[np.minimum(remaining[longer], _WORD)]
        low, high = factors[2 * number], factors[2 * number + 1]
        sums[longer] += (words & _LOW) * low + (words >> _HALF) * high
    for place in np.flatnonzero(lengths > _LONG):
        key = content[starts[place] : starts[place] + lengths[place]]
        digest = blake2b(key.tobytes(), digest_size=_WORD, key=seed.to_bytes(_WORD, "little"))
        sums[place] = int.from_bytes(digest.digest(), "little")
    # The upper half is the good one; slots are chosen by the lowest bits.
    folded: Hashes = (sums ^ (sums >> _HALF)) * _MULTIPLIER
    folded ^= folded >> _SHIFT
    return folded

"""The pairs of rows of two sides that have equal keys and come within a time of each other."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class KeyTimes:
    """The rows of a side: the numbers of their keys, and their times."""

    keys: Numbers
    times: Numbers

    def since(self, place: int) -> "KeyTimes":
        """Those from a place on."""
        return KeyTimes(self.keys[place:], self.times[place:])

    def until(self, place: int) -> "KeyTimes":
        """Those before a place."""
        return KeyTimes(self.keys[:place], self.times[:place])


def key_numbers(left: pa.Array, right: pa.Array) -> tuple[Numbers, Numbers]:
    """A number for each key, the same for equal keys of both sides."""
    indices = pa.concat_arrays([left, right]).dictionary_encode().indices.to_numpy().astype(np.int64)
    return indices[: len(left)], indices[len(left) :]


def matching_pairs(left: KeyTimes, right: KeyTimes, within: int) -> tuple[Numbers, Numbers]:
    """Places in both sides of each pair, in order of the left."""
    order = np.lexsort((right.times, right.keys))
    first = _count_below(KeyTimes(left.keys, left.times - within), right, or_equal=False)
    last = _count_below(KeyTimes(left.keys, left.times + within), right, or_equal=True)
    return _spread(first, last - first, order)


def _count_below(probes: KeyTimes, rows: KeyTimes, *, or_equal: bool) -> Numbers:
    """For each probe how many of the rows stand before it, in order of key and time.

    Both are sorted together: key and time need not fit into one number, as they would for a binary search.
    """
    count = len(probes.keys)
    is_row = np.concatenate([np.zeros(count, np.int8), np.ones(len(rows.keys), np.int8)])
    tie = 1 - is_row if or_equal else is_row
    times, keys = np.concatenate([probes.times, rows.times]), np.concatenate([probes.keys, rows.keys])
    order = np.lexsort((tie, times, keys))
    before = np.empty(len(order), np.int64)
    before[order] = np.cumsum(is_row[order], dtype=np.int64)
    return before[:count]


def _spread(first: Numbers, counts: Numbers, order: Numbers) -> tuple[Numbers, Numbers]:
    """Each left row with the right rows from its first on."""
    lefts = np.repeat(np.arange(len(first)), counts)
    starts = np.cumsum(counts) - counts
    return lefts, order[np.arange(len(lefts)) + np.repeat(first - starts, counts)]

"""Answers of a remote table that are still good, in columns: looking up a key in them costs no call."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.stores.engines.key_index import KeyIndex

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """For each key whether its answer is known, which it is, and when it was given."""

    there: npt.NDArray[np.bool_]
    values: pa.BinaryArray  # null for a key without a row, and for one that is not known
    given: Seconds


class Answers:
    """Answers by key, the newest of each."""

    def __init__(self) -> None:
        self._index = KeyIndex()
        self._values: pa.BinaryArray = pa.array([], pa.binary())
        self._given: Seconds = np.empty(0, np.float64)
        self._at = np.empty(0, np.int64)  # where in the values the one of each key is

    def __len__(self) -> int:
        return len(self._index)

    def find(self, keys: pa.BinaryArray, good_since: float = -np.inf) -> KnownAnswers:
        """What is known of keys, but for answers older than that."""
        places = self._index.find(keys)
        there = places >= 0
        at = np.zeros(len(keys), np.int64)
        at[there] = self._at[places[there]]
        given = np.full(len(keys), -np.inf)
        given[there] = self._given[at[there]]
        there &= given >= good_since
        return KnownAnswers(there, self._values.take(pa.array(at, mask=~there)), given)

    def put(self, keys: pa.BinaryArray, values: pa.BinaryArray, given: Seconds) -> None:
        """Take in answers of distinct keys."""
        places = self._index.find(keys)
        fresh = places < 0
        if fresh.any():
            places[fresh] = len(self._index) + np.arange(np.count_nonzero(fresh))
            self._index.add(keys.filter(pa.array(fresh)))
            self._at = np.append(self._at, places[fresh])
        self._at[places] = len(self._values) + np.arange(len(values))
        self._values = pa.concat_arrays([self._values, values])
        self._given = np.concatenate([self._given, given])
        if len(self._values) > 2 * len(self._index):
            self._values = self._values.take(pa.array(self._at))
            self._given = self._given[self._at]
            self._at = np.arange(len(self._index))


class AnswerCache:
    """Answers of so many keys at most, each for so long. What was asked for lately stays longest.

    There are two halves. What is found in the older one goes to the younger; when that is full it becomes
    the older one, and the older one is forgotten.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._half, self._seconds = (size + 1) // 2, seconds
        self._young, self._old = Answers(), Answers()

    def __len__(self) -> int:
        return len(self._young) + len(self._old)

    def find(self, keys: pa.BinaryArray, now: float) -> KnownAnswers:
        """What is known of keys and still good."""
        since = now - self._seconds
        young = self._young.find(keys, since)
        if young.there.all() or not len(self._old):
            return young
        rest = pa.array(~young.there)
        asked = keys.filter(rest)
        old = self._old.find(asked, since)
        good = pa.array(old.there)
        self.put(asked.filter(good), old.values.filter(good), old.given[old.there])
        there, given = young.there.copy(), young.given.copy()
        there[~young.there], given[~young.there] = old.there, old.given
        both = pa.concat_arrays([young.values, old.values])
        places = np.arange(len(keys))
        places[~young.there] = len(keys) + np.arange(len(asked))
        return KnownAnswers(there, both.take(pa.array(places)), given)

    def put(self, keys: pa.BinaryArray, values: pa.BinaryArray, given: Seconds) -> None:
        """Take in answers of distinct keys; of more than there is room for, the last ones."""
        if not self._half:
            return
        if len(keys) > self._half:
            # Else an older answer would come back for a key that has no room, from either half.
            self._young, self._old = Answers(), Answers()
            keys, values, given = keys[-self._half :], values[-self._half :], given[-self._half :]
        if len(self._young) + len(keys) > self._half:
            self._old, self._young = self._young, Answers()
        self._young.put(keys, values, given)

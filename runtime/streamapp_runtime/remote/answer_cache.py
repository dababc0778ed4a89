"""Answers of a remote table that are still good, in columns: looking up a key in them costs no call."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.stores.engines.key_index import KeyIndex

Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class KnownAnswers:
    """For each key whether an answer is known, the answer, and the time of the answer."""

    is_known: npt.NDArray[np.bool_]
    values: pa.BinaryArray  # null for a key without a row, and for one that is not known
    answered_at: Seconds


class Answers:
    """Answers by key, the newest of each."""

    def __init__(self) -> None:
        self._index = KeyIndex()
        self._values: pa.BinaryArray = pa.array([], pa.binary())
        self._answered_at: Seconds = np.empty(0, np.float64)
        self._value_places = np.empty(0, np.int64)  # index into the values, by place of the key

    def __len__(self) -> int:
        return len(self._index)

    def find(self, keys: pa.BinaryArray, good_since: float = -np.inf) -> KnownAnswers:
        """The known answers to keys, except answers older than `good_since`."""
        places = self._index.find(keys)
        is_known = places >= 0
        value_places = np.zeros(len(keys), np.int64)
        value_places[is_known] = self._value_places[places[is_known]]
        answered_at = np.full(len(keys), -np.inf)
        answered_at[is_known] = self._answered_at[value_places[is_known]]
        is_known &= answered_at >= good_since
        return KnownAnswers(is_known, self._values.take(pa.array(value_places, mask=~is_known)), answered_at)

    def put(self, keys: pa.BinaryArray, values: pa.BinaryArray, answered_at: Seconds) -> None:
        """Take in answers of distinct keys."""
        places = self._index.find(keys)
        is_new = places < 0
        if is_new.any():
            places[is_new] = len(self._index) + np.arange(np.count_nonzero(is_new))
            self._index.add(keys.filter(pa.array(is_new)))
            self._value_places = np.append(self._value_places, places[is_new])
        self._value_places[places] = len(self._values) + np.arange(len(values))
        self._values = pa.concat_arrays([self._values, values])
        self._answered_at = np.concatenate([self._answered_at, answered_at])
        if len(self._values) > 2 * len(self._index):
            self._values = self._values.take(pa.array(self._value_places))
            self._answered_at = self._answered_at[self._value_places]
            self._value_places = np.arange(len(self._index))


class AnswerCache:
    """Answers of so many keys at most, each for so long. What was asked for lately stays longest.

    The cache has two halves. An answer that is used from the older half moves to the recent half. A full
    recent half becomes the older half, and the former older half is dropped.
    """

    def __init__(self, size: int, seconds: float) -> None:
        self._half, self._seconds = (size + 1) // 2, seconds
        self._recent, self._older = Answers(), Answers()

    def __len__(self) -> int:
        return len(self._recent) + len(self._older)

    def find(self, keys: pa.BinaryArray, now: float) -> KnownAnswers:
        """The known answers to keys that have not expired."""
        since = now - self._seconds
        recent = self._recent.find(keys, since)
        if recent.is_known.all() or not len(self._older):
            return recent
        is_missing = pa.array(~recent.is_known)
        missing_keys = keys.filter(is_missing)
        older = self._older.find(missing_keys, since)
        is_found = pa.array(older.is_known)
        self.put(
            missing_keys.filter(is_found), older.values.filter(is_found), older.answered_at[older.is_known]
        )
        is_known, answered_at = recent.is_known.copy(), recent.answered_at.copy()
        is_known[~recent.is_known], answered_at[~recent.is_known] = older.is_known, older.answered_at
        both = pa.concat_arrays([recent.values, older.values])
        places = np.arange(len(keys))
        places[~recent.is_known] = len(keys) + np.arange(len(missing_keys))
        return KnownAnswers(is_known, both.take(pa.array(places)), answered_at)

    def put(self, keys: pa.BinaryArray, values: pa.BinaryArray, answered_at: Seconds) -> None:
        """Take in answers of distinct keys; of more than there is room for, the last ones."""
        if not self._half:
            return
        if len(keys) > self._half:
            # Else an older answer would come back for a key that has no room, from either half.
            self._recent, self._older = Answers(), Answers()
            keys, values, answered_at = keys[-self._half :], values[-self._half :], answered_at[-self._half :]
        if len(self._recent) + len(keys) > self._half:
            self._older, self._recent = self._recent, Answers()
        self._recent.put(keys, values, answered_at)

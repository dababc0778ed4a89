"""Entries that were read or written lately, in columns, in front of where a store keeps them.

A look into columns costs some 120 microseconds however few keys it is for, and a look into a store two at
most for each. So a few keys are asked of the store itself, and their values are not kept here.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.stores.engines.entries import FoundValues, distinct_writes, written_columns
from streamapp_runtime.stores.engines.key_index import KeyIndex, KeyPlaces

FEW_KEYS: Final = 64
"""So many keys are read and written without the columns."""
_MOST_GATHERED = 1024
_OVERHEAD = 40
"""Bytes of the index for each key: its hash, two slots of eight bytes or more, the place of its value."""


class ReadCache:
    """The values of some keys, null for keys without a value. The cache is emptied when it is full.

    A few writes are gathered until many keys are looked up, or until they are many themselves.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.clear()

    def clear(self) -> None:
        """Forget all entries."""
        self._gathered: dict[bytes, bytes | None] = {}
        self._index = KeyIndex()
        self._values: pa.BinaryArray = pa.array([], pa.binary())
        self._value_places: KeyPlaces = np.empty(0, np.int64)  # index into the values, by place of the key

    def get(self, keys: pa.Array, read: Callable[[list[bytes]], FoundValues]) -> pa.BinaryArray:
        """The value of each key, null for a null key. Unknown keys are read, in order of the key."""
        if len(keys) <= FEW_KEYS:
            return _few_values(keys.to_pylist(), read)
        keys = keys.cast(pa.binary())
        if keys.null_count:
            values = self.get(keys.drop_null(), read)
            places = np.cumsum(keys.is_valid().to_numpy(zero_copy_only=False)) - 1
            return values.take(pa.array(places, mask=keys.is_null().to_numpy(zero_copy_only=False)))
        self._take_gathered()
        places = self._index.find(keys)
        unknown = places < 0
        if unknown.any():
            if self._bytes() > self._limit:
                self.clear()
                unknown[:] = True
            self._load(pc.unique(keys.filter(pa.array(unknown))), read)
            places = self._index.find(keys)
        return self._values.take(pa.array(self._value_places[places]))

    def write(self, keys: pa.Array, values: pa.Array, written: dict[bytes, bytes | None]) -> None:
        """Take over writes in order; `written` is what is left of them, the last one of each key."""
        if len(written) > FEW_KEYS:
            self._take_gathered()
            self._put(*distinct_writes(keys, values, written))
        elif len(self._index):
            self._gathered |= written
            if len(self._gathered) > _MOST_GATHERED:
                self._take_gathered()

    def _take_gathered(self) -> None:
        """Bring what was written a few keys at a time into the columns."""
        if self._gathered:
            gathered, self._gathered = self._gathered, {}
            self._put(*written_columns(gathered))

    def _put(self, keys: pa.BinaryArray, values: pa.BinaryArray) -> None:
        """Put the values of distinct keys into the columns."""
        if self._bytes() > self._limit:
            self.clear()
        places = self._index.find(keys)
        unknown = places < 0
        if unknown.any():
            places[unknown] = len(self._index) + np.arange(np.count_nonzero(unknown))
            self._index.add(keys.filter(pa.array(unknown)))
            self._value_places = np.append(self._value_places, places[unknown])
        self._value_places[places] = len(self._values) + np.arange(len(values))
        self._values = pa.concat_arrays([self._values, values])
        if len(self._values) > 2 * len(self._index):
            self._values = self._values.take(pa.array(self._value_places))
            self._value_places = np.arange(len(self._index))

    def _load(self, keys: pa.BinaryArray, read: Callable[[list[bytes]], FoundValues]) -> None:
        ordered = keys.take(pc.array_sort_indices(keys))
        self._put(ordered, pa.array(read(ordered.to_pylist()), pa.binary()))

    def _bytes(self) -> int:
        return int(self._index.keys.nbytes + self._values.nbytes) + _OVERHEAD * len(self._index)


def _few_values(keys: list[bytes | None], read: Callable[[list[bytes]], FoundValues]) -> pa.BinaryArray:
    """The value of each key as the store itself has it, null for a null key."""
    values = iter(read([key for key in keys if key is not None]))
    return pa.array([None if key is None else next(values) for key in keys], pa.binary())

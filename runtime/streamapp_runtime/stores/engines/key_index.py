"""Finds the places of keys among many, whole columns at a time: a hash table of numpy arrays.

An Arrow `index_in` builds its hash table again for every batch, and a dictionary follows three pointers for
every key; this one stays and looks up millions of keys per second.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamapp_runtime.stores.engines.key_hash import Hashes, hash_keys, secret_seed

KeyPlaces = npt.NDArray[np.int64]

_LEAST_SLOTS = 1024


class KeyIndex:
    """Keys, each with its place: the first has place 0, and so on in the order in which they were added."""

    def __init__(
        self,
        hash_function: Callable[[pa.BinaryArray, int], Hashes] = hash_keys,
        new_seed: Callable[[], int] = secret_seed,
    ) -> None:
        self._hash_keys, self._new_seed = hash_function, new_seed
        self.keys: pa.BinaryArray = pa.array([], pa.binary())
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._slots: KeyPlaces = np.full(_LEAST_SLOTS, -1, np.int64)
        self._seed = new_seed()

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, keys: pa.BinaryArray) -> KeyPlaces:
        """The place of each key, -1 where it has none. No key is null."""
        if not len(self):
            return np.full(len(keys), -1, np.int64)
        places = self._places_of_hashes(self._hash_keys(keys, self._seed))
        present = places >= 0
        present_keys = keys if present.all() else keys.filter(pa.array(present))
        same = pc.equal(self.keys.take(pa.array(places[present])), present_keys)
        if pc.all(same, min_count=0).as_py():
            return places
        self._seed = self._new_seed()  # two keys have one hash: take others
        self._rebuild(len(self._slots))
        return self.find(keys)

    def add(self, keys: pa.BinaryArray) -> None:
        """Take in distinct keys that have no place yet."""
        first = len(self)
        self.keys = pa.concat_arrays([self.keys, keys])
        if 2 * len(self) > len(self._slots):
            self._rebuild(1 << (4 * len(self) - 1).bit_length())
        else:
            self._hashes = np.concatenate([self._hashes, self._hash_keys(keys, self._seed)])
            self._place_in_slots(np.arange(first, len(self)))

    def _rebuild(self, slots: int) -> None:
        self._hashes = self._hash_keys(self.keys, self._seed)
        self._slots = np.full(slots, -1, np.int64)
        self._place_in_slots(np.arange(len(self)))

    def _place_in_slots(self, places: KeyPlaces) -> None:
        """Give places their slots: the first free one from where the hash points."""
        slots = self._first_slots(self._hashes[places])
        while len(places):
            free = self._slots[slots] < 0
            self._slots[slots[free]] = places[free]  # of several for one slot the last one stays
            displaced = self._slots[slots] != places
            places, slots = places[displaced], self._next_slots(slots[displaced])

    def _places_of_hashes(self, hashes: Hashes) -> KeyPlaces:
        places = np.full(len(hashes), -1, np.int64)
        slots = self._first_slots(hashes)
        unresolved = np.arange(len(hashes))
        while len(unresolved):
            occupants = self._slots[slots]
            same = (occupants >= 0) & (self._hashes[occupants] == hashes[unresolved])
            places[unresolved[same]] = occupants[same]
            collided = (occupants >= 0) & ~same
            unresolved, slots = unresolved[collided], self._next_slots(slots[collided])
        return places

    def _first_slots(self, hashed: Hashes) -> KeyPlaces:
        return (hashed & np.uint64(len(self._slots) - 1)).astype(np.int64)

    def _next_slots(self, slots: KeyPlaces) -> KeyPlaces:
        return (slots + 1) & (len(self._slots) - 1)

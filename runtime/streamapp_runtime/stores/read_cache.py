"""Entries that were read or written lately, in front of a store on disk."""

from collections.abc import Callable, Iterable, Mapping

from streamapp_runtime.stores.entries import Found

_OVERHEAD = 130
"""Bytes that an entry takes beside its key and value: two objects and their place in the dictionary."""


class ReadCache:
    """Knows the values of some keys, None of those that have none. Starts anew when it has no room left."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._known: dict[bytes, bytes | None] = {}

    def read(self, keys: list[bytes], read: Callable[[list[bytes]], Found]) -> Found:
        """The value of each distinct key; those that are not known are read, in order of the key."""
        known = self._known
        missing = [key for key in keys if key not in known]
        if not missing:
            return [known[key] for key in keys]
        missing.sort()
        found = dict(zip(missing, read(missing), strict=True))
        if len(found) == len(keys):
            values = [found[key] for key in keys]
        else:
            values = [found[key] if key in found else known[key] for key in keys]
        self.learn(found)
        return values

    def learn(self, entries: Mapping[bytes, bytes | None]) -> None:
        """Take over what was read or written."""
        self._held += _bytes(entries)
        self._known.update(entries)
        if self._held > self._limit:
            self._held = _bytes(self._known)  # what was written over had been counted too
            if 2 * self._held > self._limit:
                self.clear()

    def forget(self, keys: Iterable[bytes]) -> None:
        """Know nothing of these any more."""
        for key in keys:
            self._known.pop(key, None)

    def clear(self) -> None:
        """Know nothing any more."""
        self._held = 0
        self._known.clear()


def _bytes(entries: Mapping[bytes, bytes | None]) -> int:
    values = filter(None, entries.values())
    return sum(map(len, entries)) + sum(map(len, values)) + _OVERHEAD * len(entries)

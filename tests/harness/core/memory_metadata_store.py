"""Metadata that lasts as long as the process: for tests, and for runs that keep nothing."""

from collections.abc import Mapping


class MemoryMetadataStore:
    """A `MetadataStore` in a dictionary.

    Each change is a single dictionary operation on plain bytes, so threads need no lock.
    """

    def __init__(self) -> None:
        self._entries: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None where it has none."""
        return self._entries.get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Give a key a value."""
        self._entries[key] = value

    def put_all(self, entries: Mapping[bytes, bytes]) -> None:
        """Put all of these at once."""
        self._entries.update(dict(entries))

    def remove(self, key: bytes) -> None:
        """Take a key and its value away."""
        self._entries.pop(key, None)

    def all(self) -> dict[bytes, bytes]:
        """Everything as it was at one moment."""
        return self._entries.copy()

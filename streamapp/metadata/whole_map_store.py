"""A metadata store that reads and replaces its whole map at once."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

Entries = dict[bytes, bytes]


class WholeMapStore(ABC):
    """The methods of a `MetadataStore`, over one way to read the map and one to change it."""

    @abstractmethod
    def all(self) -> Entries:
        """Everything as it was at one moment; a `StoreUnreadableError` where it is damaged."""

    @abstractmethod
    def _change(self, change: Callable[[Entries], Entries]) -> None:
        """Keep what becomes of the map, without losing what another writes meanwhile."""

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None where it has none."""
        return self.all().get(key)

    def put(self, key: bytes, value: bytes) -> None:
        """Give a key a value."""
        self.put_all({key: value})

    def put_all(self, entries: Mapping[bytes, bytes]) -> None:
        """Put all of these at once."""
        self._change(lambda before: before | dict(entries))

    def remove(self, key: bytes) -> None:
        """Take a key and its value away."""
        self._change(lambda before: {name: value for name, value in before.items() if name != key})

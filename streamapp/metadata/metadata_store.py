"""The interface of every place that keeps metadata, whatever it is made of."""

from collections.abc import Mapping
from typing import Protocol


class MetadataStore(Protocol):
    """A small map of bytes to bytes that outlives the process.

    It is made for few, compact values: a whole map may be read and written for one of them. A call that has
    returned is kept; one that was cut off has happened or has not, never half. Any bytes can be a key.
    """

    def get(self, key: bytes) -> bytes | None:
        """The value of a key, None where it has none."""
        ...

    def put(self, key: bytes, value: bytes) -> None:
        """Give a key a value, in place of the one that it may have."""
        ...

    def put_all(self, entries: Mapping[bytes, bytes]) -> None:
        """Put all of these at once: a reader sees either none of them or all."""
        ...

    def remove(self, key: bytes) -> None:
        """Take a key and its value away; one that is not there is no error."""
        ...

    def all(self) -> dict[bytes, bytes]:
        """Everything as it was at one moment, in a map that is the caller's own."""
        ...

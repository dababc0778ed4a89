"""What was worked out lately, kept for a while: decoding the same object twice is for nothing."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
MAX_RECENT = 512


class RecentResults(Generic[T]):
    """The results of a function, by a key under which they never change."""

    def __init__(self, most: int = MAX_RECENT) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, key: Hashable, work: Callable[[], T]) -> T:
        """What is known under this key, or what the work gives."""
        if key not in self._found:
            self.put(key, work())
        self._found.move_to_end(key)
        return self._found[key]

    def find(self, key: Hashable) -> T | None:
        """What is known under this key."""
        return self._found.get(key)

    def put(self, key: Hashable, value: T) -> None:
        """Keep it, in place of what was not asked for the longest."""
        self._found[key] = value
        if len(self._found) > self._most:
            self._found.popitem(last=False)

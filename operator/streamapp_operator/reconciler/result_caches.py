"""What was worked out lately, kept for a while: decoding the same object twice is for nothing."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, Generic, TypeVar

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


MAX_MEMOIZED = 128
MEMOIZE_FROM_SECONDS = 0.03
"""Quicker answers are not kept: a thousand small apps would only fill the memory with them."""


class MemoizedResults:
    """The last answer to each question, with what it was made of."""

    def __init__(self, worth: float = MEMOIZE_FROM_SECONDS) -> None:
        self._worth = worth
        self._kept: OrderedDict[Hashable, tuple[tuple[Any, ...], Any]] = OrderedDict()

    def of(self, question: Hashable, made_of: tuple[Any, ...], work: Callable[[], T]) -> T:
        """The answer. What is the same object is equal without being looked into."""
        kept = self._kept.get(question)
        if kept is not None and kept[0] == made_of:
            found: T = kept[1]
            return found
        began = perf_counter()
        answer = work()
        if perf_counter() - began >= self._worth:
            self._kept[question] = (made_of, answer)
            self._kept.move_to_end(question)
            while len(self._kept) > MAX_MEMOIZED:
                self._kept.popitem(last=False)
        else:
            self._kept.pop(question, None)
        return answer

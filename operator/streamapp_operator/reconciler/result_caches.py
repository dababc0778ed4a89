"""Caches of results, so that the same object is not decoded twice. Each is bounded by number and by size."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, Generic, TypeVar

T = TypeVar("T")
MAX_RECENT = 512
MAX_TEXT = 16 * 2**20
"""Characters of the texts whose decoded forms a cache holds; these take some twenty times as much."""


class RecentResults(Generic[T]):
    """The most recently used results of a function, by a key under which they never change."""

    def __init__(self, max_size: int = MAX_RECENT, max_weight: int = MAX_TEXT) -> None:
        self._max_size, self._max_weight = max_size, max_weight
        self._results: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._weight = 0

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Hashable, work: Callable[[], T]) -> T:
        """The result under this key; computed by `work` where it is missing."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key][0]
        computed = work()
        self.put(key, computed)
        return computed

    def peek(self, key: Hashable) -> T | None:
        """The result under this key, if there is one."""
        entry = self._results.get(key)
        if entry is None:
            return None
        self._results.move_to_end(key)
        return entry[0]

    def put(self, key: Hashable, value: T, weight: int = 0) -> None:
        """Cache a result of this size, in place of the least recently used ones."""
        self._weight += weight - self._results.pop(key, (value, 0))[1]
        self._results[key] = (value, weight)
        while len(self._results) > self._max_size or (self._weight > self._max_weight and len(self) > 1):
            self._weight -= self._results.popitem(last=False)[1][1]

    def drop(self, key: Hashable) -> None:
        """Forget the result under this key."""
        self._weight -= self._results.pop(key, (None, 0))[1]


MAX_MEMOIZED = 128
MAX_PARTITIONS = 500_000
"""Of the apps whose answers are held together: two of the largest apps, or hundreds of usual ones."""
MEMOIZE_FROM_SECONDS = 0.001
"""Quicker results are not cached. A launch decides three times, and plans once."""


class MemoizedResults:
    """The last answer to each question, with the inputs that it was computed from."""

    def __init__(
        self, min_seconds: float = MEMOIZE_FROM_SECONDS, max_partitions: int = MAX_PARTITIONS
    ) -> None:
        self._min_seconds = min_seconds
        self._answers: RecentResults[tuple[tuple[Any, ...], Any]] = RecentResults(
            MAX_MEMOIZED, max_partitions
        )

    def __len__(self) -> int:
        return len(self._answers)

    def of(
        self, question: Hashable, inputs: tuple[Any, ...], work: Callable[[], T], partitions: int = 0
    ) -> T:
        """The answer, computed again only if an input changed. Identical objects compare as equal at once."""
        memoized = self._answers.peek(question)
        if memoized is not None and memoized[0] == inputs:
            result: T = memoized[1]
            return result
        started = perf_counter()
        computed = work()
        if perf_counter() - started >= self._min_seconds:
            self._answers.put(question, (inputs, computed), partitions)
        else:
            self._answers.drop(question)
        return computed

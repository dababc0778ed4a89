"""Caches of results, so that the same object is not decoded twice."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, Generic, TypeVar

T = TypeVar("T")
MAX_RECENT = 512


class RecentResults(Generic[T]):
    """The most recently used results of a function, by a key under which they never change."""

    def __init__(self, max_size: int = MAX_RECENT) -> None:
        self._max_size = max_size
        self._results: OrderedDict[Hashable, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._results)

    def get(self, key: Hashable, work: Callable[[], T]) -> T:
        """The result under this key; computed by `work` where it is missing."""
        if key not in self._results:
            self.put(key, work())
        self._results.move_to_end(key)
        return self._results[key]

    def peek(self, key: Hashable) -> T | None:
        """The result under this key, if there is one."""
        return self._results.get(key)

    def put(self, key: Hashable, value: T) -> None:
        """Cache a result, in place of the least recently used one."""
        self._results[key] = value
        if len(self._results) > self._max_size:
            self._results.popitem(last=False)


MAX_MEMOIZED = 128
MEMOIZE_FROM_SECONDS = 0.03
"""Quicker results are not cached: those of a thousand small apps would only take memory."""


class MemoizedResults:
    """The last answer to each question, with the inputs that it was computed from."""

    def __init__(self, min_seconds: float = MEMOIZE_FROM_SECONDS) -> None:
        self._min_seconds = min_seconds
        self._answers: OrderedDict[Hashable, tuple[tuple[Any, ...], Any]] = OrderedDict()

    def of(self, question: Hashable, inputs: tuple[Any, ...], work: Callable[[], T]) -> T:
        """The answer, computed again only if an input changed. Identical objects compare as equal at once."""
        memoized = self._answers.get(question)
        if memoized is not None and memoized[0] == inputs:
            result: T = memoized[1]
            return result
        started = perf_counter()
        computed = work()
        if perf_counter() - started >= self._min_seconds:
            self._answers[question] = (inputs, computed)
            self._answers.move_to_end(question)
            while len(self._answers) > MAX_MEMOIZED:
                self._answers.popitem(last=False)
        else:
            self._answers.pop(question, None)
        return computed

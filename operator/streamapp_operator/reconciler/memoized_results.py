"""What took long to work out, kept for when it is asked again of the same.

Functions stay pure: an answer is used again only where all that it was made of is equal.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Any, TypeVar

T = TypeVar("T")
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

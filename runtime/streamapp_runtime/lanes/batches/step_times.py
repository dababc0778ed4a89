"""The time that each step of a lane takes in one batch."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final, TypeVar

QUOTA_STEP: Final = "quota of "
"""What the step is called, before the name of a system, in which brokers' quotas keep a lane."""

T = TypeVar("T")


class StepTimes:
    """Seconds by step. What a step waits for rows of an earlier one is not its own."""

    def __init__(self) -> None:
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.current: tuple[str, float] | None = None  # the step that is at work, and since when

    @contextmanager
    def of(self, step: str) -> Iterator[None]:
        """Count what is done inside as part of a step."""
        before, begun = self.current, perf_counter()
        self.current = step, begun
        try:
            yield
        finally:
            self.current = before
            self._seconds[step] += perf_counter() - begun

    def add(self, step: str, seconds: float) -> None:
        """Count what was measured elsewhere; it may lie within other steps."""
        self._seconds[step] += seconds

    @property
    def step(self) -> str:
        """The step that is at work; empty while none is."""
        return self.current[0] if self.current else ""

    def making(self, step: str, items: Iterator[T]) -> Iterator[T]:
        """The same items; what it takes to make each is part of a step, what is done with it is not."""
        while True:
            with self.of(step):
                try:
                    item = next(items)
                except StopIteration:
                    return
            yield item

    def by_step(self) -> dict[str, float]:
        """The seconds of each step, in order of names."""
        return dict(sorted(self._seconds.items()))

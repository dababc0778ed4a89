"""Whether a figure grows: the slope of its samples, with what it may be wrong by."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Sample = tuple[str, float, float]
"""Of what (a process, say), when in seconds, and how much."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How much a figure grows in an hour."""

    per_hour: float
    error: float  # the standard error of it; infinite where there are too few samples
    mean: float
    last: float

    def exceeds(self, bound: float) -> bool:
        """Whether it grows by more than a bound, beyond what chance explains: two standard errors."""
        return self.per_hour - 2 * self.error > bound


def slope(samples: Iterable[Sample], block_seconds: float) -> Slope:
    """The slope that is common to all that were sampled, each around a mean of its own.

    So a process that takes the place of another does not count as growth. Samples that follow each other
    closely are alike, and would make the error too small: those of a block count as one.
    """
    blocks = _blocks(samples, block_seconds)
    squares = products = 0.0
    centred: list[tuple[float, float]] = []
    values = [value for points in blocks.values() for _, value in points]
    for points in blocks.values():
        mean_time = math.fsum(time for time, _ in points) / len(points)
        mean_value = math.fsum(value for _, value in points) / len(points)
        centred += [(time - mean_time, value - mean_value) for time, value in points]
    squares = math.fsum(time * time for time, _ in centred)
    products = math.fsum(time * value for time, value in centred)
    freedom = len(centred) - len(blocks) - 1
    mean = math.fsum(values) / len(values) if values else 0.0
    last = max((points[-1] for points in blocks.values()), default=(0.0, 0.0))[1]
    if freedom < 1 or squares <= 0.0:
        return Slope(0.0, math.inf, mean, last)
    per_second = products / squares
    residuals = math.fsum((value - per_second * time) ** 2 for time, value in centred)
    error = math.sqrt(residuals / freedom / squares)
    return Slope(per_second * 3_600, error * 3_600, mean, last)


def _blocks(samples: Iterable[Sample], block_seconds: float) -> dict[str, Sequence[tuple[float, float]]]:
    """By what was sampled, the means of each block."""
    sums: defaultdict[tuple[str, int], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for name, time, value in samples:
        block = sums[name, int(time // block_seconds)]
        for place, amount in enumerate((time, value, 1.0)):
            block[place] += amount
    points: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
    for (name, _), (time, value, count) in sorted(sums.items()):
        points[name].append((time / count, value / count))
    return dict(points)

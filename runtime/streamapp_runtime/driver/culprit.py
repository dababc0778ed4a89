"""Finds the record on which a batch fails, where only the whole batch says that it failed.

Spark names no row when an expression fails, and neither does a user's function. So parts of the batch are
tried, and nothing of them is committed, until one record is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streamapp_runtime.driver.flow import Demand
from streamapp_runtime.program.operations import declared

Trial = Callable[[Sequence[Demand]], str | None]
"""Why a batch of these records fails; None where it does not."""


@dataclass(frozen=True, slots=True)
class Culprit:
    """A record on which the batch fails."""

    stream: str
    partition: int
    offset: int
    reason: str

    @property
    def place(self) -> tuple[str, int, int]:
        """Which record it is."""
        return self.stream, self.partition, self.offset

    def __str__(self) -> str:
        return f"{declared(self.stream)}#{self.partition} at offset {self.offset}: {self.reason}"


def culprit(batch: Sequence[Demand], trial: Trial) -> Culprit | None:
    """The record on which a batch fails, found by halving; None where the batch does not fail.

    Where neither half fails alone, as with a total that overflows, the first half stays in all that follows.
    """
    reason = trial(batch)
    if reason is None:
        return None
    with_it: list[Demand] = []
    suspects = list(batch)
    while sum(demand.lag for demand in suspects) > 1:
        first, second = halves(suspects)
        for half in (first, second):
            failed = trial([*with_it, *half])
            if failed is not None:
                suspects, reason = half, failed
                break
        else:
            with_it += first
            suspects = second
    if not suspects:
        return None  # it fails without any record: no record is to blame
    (demand,) = suspects
    return Culprit(demand.partition.stream, demand.partition.index, demand.start, reason)


def halves(batch: Sequence[Demand]) -> tuple[list[Demand], list[Demand]]:
    """The first half of the records, and the rest."""
    left = sum(demand.lag for demand in batch) // 2
    first: list[Demand] = []
    second: list[Demand] = []
    for demand in batch:
        cut = min(demand.lag, left)
        left -= cut
        if cut:
            first.append(replace(demand, end=demand.start + cut))
        if cut < demand.lag:
            second.append(replace(demand, start=demand.start + cut))
    return first, second

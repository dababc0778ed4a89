"""Finds the record on which a batch fails, where only the whole batch says that it failed.

Spark names no row when an expression fails, and neither does a user's function. So parts of the batch are
tried, and nothing of them is committed, until one record is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.operators.stateless.stream_operations import declared_stream

Trial = Callable[[Sequence[PendingRange]], str | None]
"""Why a batch of these records fails; None where it does not."""


@dataclass(frozen=True, slots=True)
class BadRecord:
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
        return f"{declared_stream(self.stream)}#{self.partition} at offset {self.offset}: {self.reason}"


def find_bad_record(batch: Sequence[PendingRange], trial: Trial) -> BadRecord | None:
    """The record on which a batch fails, found by halving; None where the batch does not fail.

    Where neither half fails alone, as with a total that overflows, the first half stays in all that follows.
    """
    reason = trial(batch)
    if reason is None:
        return None
    with_it: list[PendingRange] = []
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
    return BadRecord(demand.partition.stream, demand.partition.index, demand.start, reason)


def halves(batch: Sequence[PendingRange]) -> tuple[list[PendingRange], list[PendingRange]]:
    """The first half of the records, and the rest."""
    left = sum(demand.lag for demand in batch) // 2
    first: list[PendingRange] = []
    second: list[PendingRange] = []
    for demand in batch:
        cut = min(demand.lag, left)
        left -= cut
        if cut:
            first.append(replace(demand, end=demand.start + cut))
        if cut < demand.lag:
            second.append(replace(demand, start=demand.start + cut))
    return first, second

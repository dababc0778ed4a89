"""Finds the record on which a batch fails, where only the whole batch says that it failed.

Spark names no row when an expression fails, and neither does a user's function. So parts of the batch are
tried, and nothing of them is committed, until one record is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.rejections import RejectionCause, record_place
from streamapp_runtime.operators.stateless.stream_operations import declared_stream


@dataclass(frozen=True, slots=True)
class TrialFailure:
    """Why a batch of which nothing is committed fails, and what is at fault if that is one record."""

    reason: str
    cause: RejectionCause = RejectionCause.RECORD
    doubtful: bool = False  # a process was lost, or time was over, which may have another cause


Trial = Callable[[Sequence[PendingRange]], TrialFailure | None]
"""How a batch of these records fails; None where it does not."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record on which the batch fails."""

    stream: str
    partition: int
    offset: int
    reason: str
    cause: RejectionCause = RejectionCause.RECORD

    @property
    def place(self) -> tuple[str, int, int]:
        """The address of the record."""
        return self.stream, self.partition, self.offset

    def text(self, key: bytes | None) -> str:
        """The address of the record, with its key, and what is wrong with it."""
        place = record_place(declared_stream(self.stream), self.partition, self.offset, key)
        return f"{place}: {self.reason}"


def find_bad_record(batch: Sequence[PendingRange], trial: Trial) -> BadRecord | None:
    """The record on which a batch fails, found by halving; None where the batch does not fail.

    Where neither half fails alone, as with a total that overflows, the first half stays in all that follows.
    A failure that is doubtful has to come again of the record alone. It costs workers, or the whole time of a
    trial: where the first half is innocent, the second is not tried before it is down to one record.
    """
    failure = trial(batch)
    if failure is None:
        return None
    with_it: list[PendingRange] = []
    suspects, is_tried = list(batch), True
    while sum(demand.lag for demand in suspects) > 1:
        first, second = halves(suspects)
        failed = trial([*with_it, *first])
        if failed is not None:
            suspects, failure, is_tried = first, failed, True
            continue
        suspects = second
        if failure.doubtful:
            is_tried = False
            continue
        failed = trial([*with_it, *second])
        if failed is not None:
            failure = failed
        else:
            with_it += first
    if not suspects:
        return None  # it fails without any record: no record is to blame
    (demand,) = suspects
    failed = failure if is_tried else trial([demand])
    # Otherwise it was chance, or the batch as a whole is too much.
    return _confirmed(demand, failed, trial) if failed else None


def next_bad_record(record: BadRecord, batch: Sequence[PendingRange], trial: Trial) -> BadRecord | None:
    """The record behind a bad one, where it fails by itself too: a fault in the app's code has many."""
    for demand in batch:
        there = (demand.partition.stream, demand.partition.index) == record.place[:2]
        if there and demand.start <= record.offset < demand.end - 1:
            behind = replace(demand, start=record.offset + 1, end=record.offset + 2)
            failure = trial([behind])
            return _confirmed(behind, failure, trial) if failure else None
    return None


def _confirmed(demand: PendingRange, failure: TrialFailure, trial: Trial) -> BadRecord | None:
    """The record that fails; None where a doubtful failure does not come again."""
    if failure.doubtful:
        again = trial([demand])
        return _record(demand, again) if again else None
    return _record(demand, failure)


def _record(demand: PendingRange, failure: TrialFailure) -> BadRecord:
    place = demand.partition.stream, demand.partition.index, demand.start
    return BadRecord(*place, failure.reason, failure.cause)


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

"""The policy of an app for records that are left out, and the bound beyond which the app ends."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from streamapp_runtime.lanes.protocol.rejections import RejectionCount
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord, SideOutputStream

_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class RejectionLimit:
    """The number of a partition's records that may be left out: of those of a window, and in a row."""

    share: float  # of the offsets of a window; 1 is all of them
    window: int
    in_a_row: int

    @property
    def records(self) -> int:
        """So many of one window. A small input has the allowance of a whole one."""
        return math.ceil(round(self.share * self.window, 6))


@dataclass(frozen=True, slots=True)
class RejectionPolicy:
    """The policy for records that are left out for one cause."""

    action: str = "fail"
    limit: RejectionLimit = RejectionLimit(0.01, 10_000, 100)
    letters: SideOutputStream | None = None  # what takes them


def counted_on(
    before: RejectionCount, read: np.ndarray, rejected: np.ndarray, limit: RejectionLimit
) -> tuple[RejectionCount, str]:
    """The count after some records of the partition, and how the limit was passed; empty where it was not.

    `read` are the offsets of all the records in order, `rejected` of those that are left out.
    """
    windows, numbers = np.unique(rejected // limit.window, return_counts=True)
    if len(windows) and windows[0] == before.window:
        numbers[0] += before.records
    passed = np.flatnonzero(numbers > limit.records)
    good = np.flatnonzero(~np.isin(read, rejected))
    runs = np.diff(np.concatenate([[-1 - before.in_a_row], good, [len(read)]])) - 1
    after = replace(before, in_a_row=int(runs[-1]))
    if len(windows):
        after = replace(after, window=int(windows[-1]), records=int(numbers[-1]))
    if runs.max() > limit.in_a_row:
        return after, f"{runs.max():,} records in a row, and the bound is {limit.in_a_row:,}"
    if len(passed):
        first = int(windows[passed[0]]) * limit.window
        span = f"{numbers[passed[0]]:,} records at the offsets {first} to {first + limit.window - 1}"
        return after, f"{span}, and the bound is {limit.records:,} of {limit.window:,}"
    return after, ""


def samples(rejected: Sequence[RejectedRecord]) -> str:
    """Some of the records, as a message names them."""
    chosen = islice(different_reasons_first(rejected), _SAMPLES)
    return "; ".join(f"{record.place}: {record.summary}" for record in chosen)


def different_reasons_first(rejected: Sequence[RejectedRecord]) -> Iterator[RejectedRecord]:
    """The records, so that the first ones have different reasons where there are some."""
    by_reason: dict[str, RejectedRecord] = {}
    for record in rejected:
        by_reason.setdefault(record.summary, record)
    yield from by_reason.values()
    yield from (record for record in rejected if by_reason[record.summary] is not record)

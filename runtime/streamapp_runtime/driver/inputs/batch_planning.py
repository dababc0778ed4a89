"""The next step of a run, by what there is to read, what lanes can take, and how batches are paced.

Everything here is a function of values: whoever looks at the log and at the lanes gives these, and does what
is said.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from streamapp_runtime.driver.inputs.batch_pacing import LONGEST_LOOK_SECONDS, LONGEST_WAIT_SECONDS
from streamapp_runtime.driver.inputs.fill_turns import TurnTakingStore, fill_turn
from streamapp_runtime.driver.inputs.read_scheduling import (
    PendingRange,
    ReadOrder,
    allocate,
    within_back_pressure,
)
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition, passed_over

KEEP_ALIVE_SECONDS: Final = 20.0
"""Idle Python workers end after a minute, and what they hold with them."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """The tasks of the lanes whose processors are there, and those among them that are given no records."""

    tasks: frozenset[str]
    restoring: frozenset[str] = frozenset()
    busy: frozenset[str] = frozenset()  # of lanes that are at work
    paused: frozenset[str] = frozenset()  # whose rows wait for a remote table

    @property
    def able(self) -> frozenset[str]:
        """The tasks that can be given records."""
        return self.tasks - self.restoring - self.paused - self.busy


@dataclass(frozen=True, slots=True)
class BatchDelays:
    """Seconds for which records wait for a batch, and which lie between two looks for records."""

    inputs: float = 0.0  # records of inputs
    records: float = 0.0  # records of any stream
    looks: float = LONGEST_LOOK_SECONDS  # by the app's latency

    @property
    def look_seconds(self) -> float:
        """The seconds with nothing to do after a look that found nothing to do."""
        return min(self.inputs or self.looks, LONGEST_LOOK_SECONDS)


@dataclass(frozen=True, slots=True)
class InputView:
    """The records that may be read now."""

    readable: Sequence[PendingRange]
    order: ReadOrder
    most: int  # records of one batch
    waiting: frozenset[str] = frozenset()  # tasks whose tables are not yet what they have to be
    filling: Collection[str] = ()  # those of them whose tables something fills
    endless: Sequence[UnreadPartition] = ()  # what waits for what does not come
    stores: Mapping[str, TurnTakingStore] = field(default_factory=dict)
    filled_last: Collection[str] = ()  # the tasks in whose name stores were filled in the batch before


@dataclass(frozen=True, slots=True)
class PlannedReads:
    """The records that a batch reads, and those that it leaves."""

    ranges: list[PendingRange]
    filling: frozenset[str] = frozenset()  # the tasks in whose name stores that take turns are filled
    unread: tuple[UnreadPartition, ...] | None = None  # passed over; None while inputs wait
    input_left: bool | None = None  # whether the batch takes less than there is; None where that is not known


def plan_reads(view: InputView, tasks: TaskView, delays: BatchDelays) -> PlannedReads:
    """The records that the next batch reads of all that may be read."""
    readable, order, most = view.readable, view.order, view.most
    if delays.records:
        readable = ()
    elif delays.inputs:  # records of the app's own streams have waited on their way in
        readable = [one for one in readable if one.partition.stream in order.priority]
    of_able_tasks = [one for one in readable if one.task in tasks.able]
    if tasks.busy:
        of_busy_tasks = [one for one in readable if one.task in tasks.busy]
        readable = of_able_tasks = within_back_pressure(of_able_tasks, of_busy_tasks, most, order)
    turn = fill_turn(of_able_tasks, view.stores, order.side, view.waiting, view.filled_last)
    ranges = allocate(turn.ranges, most, order, view.waiting | turn.waiting)
    if delays.inputs:
        return PlannedReads(ranges, turn.filling)
    unread = passed_over(of_able_tasks, ranges, most, order, view.filling)
    endless = [one for one in view.endless if one.task in tasks.able]
    input_left = sum(one.lag for one in ranges) < sum(one.lag for one in readable) if ranges else None
    return PlannedReads(ranges, turn.filling, (*unread, *endless), input_left)


class NextStep(StrEnum):
    """The step of the driver after a look."""

    RUN = "runs a batch"
    ANSWER = "runs a batch that only answers queries"
    HEAR = "hears lanes that are at work, or waits"


@dataclass(frozen=True, slots=True)
class BatchReasons:
    """The reasons for which a batch would be run."""

    reads: bool = False
    is_pressing: bool = False  # stores are to be restored, or tables to be said of
    is_due: bool = False  # a watermark is to be written, or a partition falls silent
    is_asked: bool = False  # queries of the state wait
    idle_seconds: float = 0.0  # since the last batch ended


def next_step(reasons: BatchReasons) -> NextStep:
    """The step for these reasons: a batch without any would cost, and change nothing."""
    if reasons.reads or reasons.is_pressing or reasons.is_due or reasons.idle_seconds > KEEP_ALIVE_SECONDS:
        return NextStep.RUN
    return NextStep.ANSWER if reasons.is_asked else NextStep.HEAR


def rest_seconds(delays: BatchDelays, *, has_more: bool, order: ReadOrder) -> float:
    """The seconds with nothing to do after a batch; `has_more`: something waits beside records."""
    if has_more or order.priority:  # what was just written may be there to be read
        return 0.0
    return min(delays.inputs, LONGEST_LOOK_SECONDS)


@dataclass(frozen=True, slots=True)
class InputWait:
    """The wait for records after a look that found nothing to do."""

    seconds: float
    own_streams_only: bool  # only records of the app's own streams end it


def input_wait(delays: BatchDelays, ring_seconds: float | None, *, has_read_all: bool) -> InputWait:
    """The wait, no longer than until a timer rings; a look comes sooner while records are there and wait."""
    seconds = LONGEST_WAIT_SECONDS if ring_seconds is None else min(LONGEST_WAIT_SECONDS, ring_seconds)
    if has_read_all and not delays.inputs:
        return InputWait(seconds, own_streams_only=False)
    return InputWait(min(seconds, delays.look_seconds), own_streams_only=True)

"""The orders of the driver to the lanes in one batch, and the replies to them.

Each lane hears of itself only; `order_codec` says how that travels.
"""

from dataclasses import dataclass, replace

from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionCount
from streamapp_runtime.lanes.protocol.state_query import StateQuery


@dataclass(frozen=True, slots=True)
class ReadRange:
    """Records to read: start <= offset < end."""

    stream: str
    partition: int
    start: int
    end: int
    only_rejects: bool = False  # a table has its rows already; what is bad was not set aside yet


@dataclass(frozen=True, slots=True)
class SidePartition:
    """A partition that fills a table of a task."""

    name: str  # under which it is read
    partition: int
    last: int | None = None  # the next record by the checkpoints; None where nobody has read it
    sets_aside: bool = True  # whether this task sets its bad records aside: one of those that read it does


@dataclass(frozen=True, slots=True)
class KnownRejection:
    """A record that is known to be bad."""

    stream: str
    partition: int
    offset: int
    reason: str
    cause: RejectionCause = RejectionCause.RECORD


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """One task's part of a batch."""

    name: str
    changelog: int  # its partition in every changelog
    checkpoint: str  # as it was read or written last; empty for a task without one
    ranges: tuple[ReadRange, ...] = ()
    side_inputs: tuple[SidePartition, ...] = ()  # all that fill its tables, whether they are read now or not
    lagging: tuple[tuple[str, int], ...] = ()  # partitions that hold more than is read in this batch
    ended: tuple[tuple[str, int], ...] = ()  # partitions of which nothing is left to read after this batch
    inherited_bookkeeping: str = ""  # of partitions that another task has read before
    rejections: tuple[RejectionCount, ...] = ()  # what was left out of its partitions so far

    @property
    def set_aside_elsewhere(self) -> frozenset[tuple[str, int]]:
        """The partitions of side inputs whose bad records another task sets aside."""
        return frozenset((side.name, side.partition) for side in self.side_inputs if not side.sets_aside)

    @property
    def committed(self) -> bytes | None:
        """The checkpoint that has to be the newest one when this batch commits."""
        return self.checkpoint.encode() if self.checkpoint else None


@dataclass(frozen=True, slots=True)
class BroadcastOrder:
    """The order to a lane about a broadcast table."""

    table: str
    fills: bool  # for all lanes of its location, or for itself where the table is in memory
    version: str = ""  # which all rows of the batch see; empty where there is none yet
    makes: str = ""  # the version to make of it at the end of the batch
    keeps: tuple[str, ...] = ()  # other versions, which lanes of the location may be reading


@dataclass(frozen=True, slots=True)
class LaneOrder:
    """The order to one lane."""

    processor: str
    tasks: tuple[TaskOrder, ...]
    executor_id: str = ""  # the executor that it has to find itself on; empty for any
    shared: tuple[BroadcastOrder, ...] = ()
    queries: tuple[StateQuery, ...] = ()  # what it is asked of its state
    snapshots: tuple[int, ...] = ()  # of its state, that are being read; others are let go


@dataclass(frozen=True, slots=True)
class Orders:
    """One batch: what every lane does."""

    incarnation: int
    batch: int
    time_ms: int  # what the batch takes for now
    lanes: tuple[LaneOrder, ...]
    release: bool = False  # restore and close the stores, do nothing else
    skip: tuple[KnownRejection, ...] = ()
    trial: bool = False  # do all but commit
    steps_to: str = ""  # where lanes tell of their steps while the batch is slow, as host:port

    def of_lane(self, number: int) -> "Orders":
        """The orders of the batch that one lane hears."""
        lane = self.lanes[number]
        partitions = {(one.stream, one.partition) for task in lane.tasks for one in task.ranges}
        skip = tuple(one for one in self.skip if (one.stream, one.partition) in partitions)
        return replace(self, lanes=(lane,), skip=skip)

    @property
    def lane(self) -> LaneOrder:
        """The lane, in what one lane hears."""
        (lane,) = self.lanes
        return lane

"""What the driver orders of the lanes in one batch, and what it hears back.

Orders travel as one JSON text in a Spark property that is bound to the job: an attempt that is made again
finds the same orders, and a late one of an earlier batch finds its own.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

ORDERS_PROPERTY = "streamapp.orders"


@dataclass(frozen=True, slots=True)
class ReadRange:
    """Records to read: start <= offset < end."""

    stream: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class SidePartition:
    """A partition that fills a table of a task."""

    name: str  # under which it is read
    partition: int
    last: int | None = None  # the next record by the checkpoints; None where nobody has read it


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """One task's part of a batch."""

    name: str
    changelog: int  # its partition in every changelog
    checkpoint: str  # as it was read or written last; empty for a task without one
    ranges: tuple[ReadRange, ...] = ()
    sides: tuple[SidePartition, ...] = ()  # all that fill its tables, whether they are read now or not
    behind: tuple[tuple[str, int], ...] = ()  # partitions that hold more than is read in this batch
    ended: tuple[tuple[str, int], ...] = ()  # partitions of which nothing is left to read after this batch
    inherited: str = ""  # books of partitions that another task has read before

    @property
    def committed(self) -> bytes | None:
        """The checkpoint that has to be the newest one when this batch commits."""
        return self.checkpoint.encode() if self.checkpoint else None


@dataclass(frozen=True, slots=True)
class BroadcastOrder:
    """What a lane has to do with a broadcast table."""

    table: str
    fills: bool  # for all lanes of its location, or for itself where the table is in memory
    version: str = ""  # which all rows of the batch see; empty where there is none yet
    makes: str = ""  # the version to make of it at the end of the batch


@dataclass(frozen=True, slots=True)
class LaneOrder:
    """What one lane does."""

    processor: str
    tasks: tuple[TaskOrder, ...]
    seat: str = ""  # the executor that it has to find itself on; empty for any
    shared: tuple[BroadcastOrder, ...] = ()


@dataclass(frozen=True, slots=True)
class Orders:
    """One batch: what every lane does."""

    incarnation: int
    batch: int
    time_ms: int  # what the batch takes for now
    lanes: tuple[LaneOrder, ...]
    release: bool = False  # settle and close the stores, do nothing else
    skip: tuple[tuple[str, int, int, str], ...] = ()  # stream, partition, offset of bad records, and why
    trial: bool = False  # do all but commit

    def text(self) -> str:
        """As it travels."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "Orders":
        """As it was sent."""
        found = json.loads(text)
        lanes = tuple(
            LaneOrder(
                lane["processor"],
                tuple(
                    TaskOrder(
                        t["name"],
                        t["changelog"],
                        t["checkpoint"],
                        tuple(ReadRange(**r) for r in t["ranges"]),
                        tuple(SidePartition(**s) for s in t["sides"]),
                        tuple((str(stream), int(index)) for stream, index in t["behind"]),
                        tuple((str(stream), int(index)) for stream, index in t["ended"]),
                        t["inherited"],
                    )
                    for t in lane["tasks"]
                ),
                lane["seat"],
                tuple(BroadcastOrder(**order) for order in lane["shared"]),
            )
            for lane in found["lanes"]
        )
        skip = tuple((str(s), int(p), int(o), str(why)) for s, p, o, why in found["skip"])
        rest = (found["release"], skip, found["trial"])
        return cls(found["incarnation"], found["batch"], found["time_ms"], lanes, *rest)


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a lane says of one task after a batch."""

    task: str
    status: str  # committed, tried, restoring, misplaced, or what the stage calls an error
    checkpoint: str = ""  # the new one, where committed
    rows_in: int = 0
    rows_out: int = 0
    bytes_in: int = 0
    restored: int = 0  # changelog entries replayed into stores
    bad: int = 0  # records set aside
    message: str = ""
    steps: Sequence[tuple[str, float]] = ()  # seconds by step
    counted: Sequence[tuple[str, str, int]] = ()  # by counter, and by table or operator: of the whole lane
    contained: Mapping[str, int] = field(default_factory=dict)  # positions of side inputs, by partition
    held: Sequence[str] = ()  # what is not read on, and the side inputs of which nothing is seen yet
    location: str = ""  # of the lane
    published: Mapping[str, str] = field(default_factory=dict)  # versions made, by broadcast table
    watermarks: Mapping[str, int] = field(default_factory=dict)  # by stream, where there are any
    due: int | None = None  # when a watermark is to be written if no more records come
    idle_at: int | None = None  # when a partition is idle if no more records come
    ended: bool = False  # whether nothing will ever come to the task in this turn
    misfits: str = ""  # the rows of the lane on which an expression failed, in a search for them

    def text(self) -> str:
        """As it travels."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def parse(cls, text: str) -> "TaskReport":
        """As it was sent."""
        found: dict[str, Any] = json.loads(text)
        steps = tuple((name, seconds) for name, seconds in found["steps"])
        counted = tuple((counter, name, number) for counter, name, number in found["counted"])
        return cls(**found | {"steps": steps, "counted": counted})

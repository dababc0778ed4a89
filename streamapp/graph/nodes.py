"""The graph's values: operators, streams and tables, free of the form in which an app was written."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class OperatorKind(StrEnum):
    """What an operator does; the values are the resource's own words."""

    INPUT = "input"
    FILTER = "filter"
    MAP = "map"
    FLAT_MAP = "flatMap"
    MERGE = "merge"
    PARTITION_BY = "partitionBy"
    BROADCAST = "broadcast"
    JOIN = "join"
    JOIN_TABLE = "joinTable"
    SEND_TO_TABLE = "sendToTable"
    AGGREGATE = "aggregate"
    PROCESS = "process"
    SEND_TO = "sendTo"


@dataclass(frozen=True, slots=True)
class OperatorNode:
    """One vertex. `stream` is what an input reads or a partitionBy, broadcast or sendTo writes."""

    name: str
    kind: OperatorKind
    inputs: tuple[str, ...] = ()
    stream: str | None = None
    tables: tuple[str, ...] = ()  # read and written by process; read by joinTable; written by sendToTable
    partitions: int | None = None  # what a partitionBy asks for

    @property
    def cuts(self) -> bool:
        """Whether what follows reads a stream that this operator writes, instead of its rows directly."""
        return self.kind in (OperatorKind.PARTITION_BY, OperatorKind.BROADCAST)


@dataclass(frozen=True, slots=True)
class StreamNode:
    """A stream that exists outside the app: an input, an output or a side input."""

    name: str
    system: str = ""
    partitions: int | None = None  # None: no system knows it
    broadcast: bool = False  # whole stream to every task


@dataclass(frozen=True, slots=True)
class TableNode:
    """A table; a remote one has no partitions of its own, a broadcast one is whole everywhere."""

    name: str
    remote: bool = False
    broadcast: bool = False
    side_inputs: tuple[str, ...] = ()

    @property
    def partitioned(self) -> bool:
        """Whether each task holds a part of it, so that what reaches it has to agree on partitions."""
        return not (self.remote or self.broadcast)


@dataclass(frozen=True, slots=True)
class Graph:
    """All of an app that planning needs. Order of declaration is kept for display and means nothing."""

    operators: Mapping[str, OperatorNode]
    streams: Mapping[str, StreamNode]
    tables: Mapping[str, TableNode]

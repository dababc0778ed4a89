"""What Python workers do with whole batches of rows: one frozen description per kind.

Positions count through the columns of an operation's sources, one after the other, and after those
through what it adds itself. `chosen` lists the positions that make the columns of what it puts out.
"""

from dataclasses import dataclass
from enum import StrEnum

from streamapp.spec.value_types.column_list import Column
from streamapp_runtime.expressions.predicate import Predicate


class StreamRole(StrEnum):
    """Why a stream is read or written."""

    INPUT = "input"
    SIDE_INPUT = "sideInput"
    OUTPUT = "output"
    INTERMEDIATE = "intermediate"
    BROADCAST = "broadcast"
    HOP = "hop"


MADE_BY_APP = frozenset({StreamRole.INTERMEDIATE, StreamRole.BROADCAST, StreamRole.HOP})
"""Streams that the app makes between its stages: user records and control messages in one."""


def side_name(stream: str, table: str) -> str:
    """What the reading of a stream into a table is called; no stream or operator has a name like it."""
    return f"{stream}>{table}"


def declared_stream(name: str) -> str:
    """The stream that is read under a name."""
    return name.partition(">")[0]


@dataclass(frozen=True, slots=True)
class Read:
    """Decode a stream's records into rows."""

    stream: str
    system: str
    topic: str
    role: StreamRole
    format: str
    columns: tuple[Column, ...]
    key: str | None = None  # the column that is the record's key
    event_time: str | None = None  # the column that is the row's time; the record's own when None
    table: str | None = None  # what it is read for, where it fills a table
    control: bool = False  # another app makes the stream, and tells in it how far it has come
    versions: str = "none"  # what ends a version of what is read: endOfStream or nullKey

    @property
    def name(self) -> str:
        """What orders and checkpoints call it by: each table is filled at its own pace."""
        return self.stream if self.table is None else side_name(self.stream, self.table)

    @property
    def enveloped(self) -> bool:
        """Whether a byte before each value says whose message it is."""
        return self.control or self.role in MADE_BY_APP


@dataclass(frozen=True, slots=True)
class Write:
    """Encode rows as a stream's records; their keys are the rows'."""

    stream: str
    system: str
    topic: str
    role: StreamRole
    format: str
    partitions: int | None = None  # of a stream that the app makes

    @property
    def enveloped(self) -> bool:
        """Whether a byte before each value says whose message it is."""
        return self.role in MADE_BY_APP


@dataclass(frozen=True, slots=True)
class SelectColumns:
    """Give rows on with other columns, as they are."""

    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FilterRows:
    """Give on the rows for which a condition is true, as they are, and all tombstones."""

    where: Predicate


@dataclass(frozen=True, slots=True)
class LookUp:
    """Add a table's columns to each row; position n is the stream's, then come the table's columns."""

    table: str
    keeps_unmatched: bool
    key: int | None  # the BINARY column to look up; the row's key when None
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LookUpRemote:
    """The same with a table that is kept elsewhere: one for all tasks, and nothing of it is in a store."""

    table: str
    keeps_unmatched: bool
    key: int | None
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WriteTable:
    """Put rows into a table under their keys; a row that is a tombstone deletes."""

    table: str
    chosen: tuple[int, ...]  # in the order of the table's columns


@dataclass(frozen=True, slots=True)
class FillTable:
    """Fill a table from a stream that is read for that."""

    table: str
    stream: str
    bootstrap: bool
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartialTotal:
    """One state of a total: `count`, `sum`, `min` or `max` of a column; `count` of all rows without one."""

    function: str
    argument: int | None
    type: str


@dataclass(frozen=True, slots=True)
class Span:
    """How time is cut: `tumbling` and `hopping` have size and advance, a `session` has its gap as size."""

    kind: str
    size_ms: int
    advance_ms: int


@dataclass(frozen=True, slots=True)
class Totals:
    """Reduce rows by key, and by window where there is one.

    Positions after the source's columns: first the window's start and end (TIMESTAMP) where there is a
    window, then the partial states. Key columns are those of any row of the key. A composed key is the
    UTF-8 of the JSON object of the key columns, by name, as Spark's `to_json(struct(...))` writes it.
    """

    state: str  # the name of its state: the operator's
    key: tuple[int, ...]
    composed: bool
    partials: tuple[PartialTotal, ...]
    window: Span | None
    emit: str
    lateness_ms: int
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class JoinStreams:
    """Pair the rows of two sources by key within a time; positions are the left's, then the right's."""

    state: str
    type: str
    within_ms: int
    time: str
    chosen: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ProcessRows:
    """Run a user's stateful class."""

    state: str
    python: str
    tables: tuple[str, ...]
    remotes: tuple[str, ...] = ()  # tables that are kept elsewhere


@dataclass(frozen=True, slots=True)
class PythonMap:
    """Run a user's function over whole batches.

    Of `each` row exactly one comes back and has its key; else any number, and their keys are null,
    or what the function says, which it has to for `keyed` ones.
    """

    python: str
    each: bool
    keyed: bool = False


Operation = (
    Read
    | Write
    | SelectColumns
    | FilterRows
    | LookUp
    | LookUpRemote
    | WriteTable
    | FillTable
    | Totals
    | JoinStreams
    | ProcessRows
    | PythonMap
)

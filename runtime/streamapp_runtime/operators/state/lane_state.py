"""The lane as operations see it: its stores, what they write to them, and what they count."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from streamapp_runtime.expressions.expression_client import ExpressionClient
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.operators.state.event_clock import EventClock
from streamapp_runtime.operators.state.lookup_result import LookupResult
from streamapp_runtime.operators.state.remote_lookup import RemoteLookup
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.stores.store import Store

OpenStore = Callable[[int, str], Store]
"""The store of a task, by its index in the lane's order, and of a table's or an operator's name."""

FillStore = Callable[[int, str, pa.Array, pa.Array], None]
"""Takes keys and values of a task's side inputs; a null value deletes."""


MisplacedKeys = Callable[[str, int, pa.Array], Mapping[int, str]]
"""Takes a stream, one of the batch's ranges in it, and keys of rows that were made of its records.

It tells which of them belong to another task, by their place, and where each belongs.
"""


NULL_KEYS_COUNTER = "nullKeys"
"""What rows without a key are counted as, where keys are to meet."""
NULL_TIMES_COUNTER = "nullTimes"
"""What rows without a time are counted as, where time decides."""
LATE_ROWS_COUNTER = "lateRows"
"""What late rows are counted as."""


@dataclass(frozen=True, slots=True)
class LateRowBatch:
    """Rows that an operator left out, and the watermark that they came behind."""

    operator: str
    rows: Slice
    columns: pa.Schema
    watermark: int


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A record that turned out to be bad after it was decoded: in which range it stands, and why."""

    source: int
    offset: int
    reason: str


class LaneState:
    """One lane's state during one batch."""

    def __init__(
        self,
        open_store: OpenStore,
        schemas: Mapping[str, pa.Schema],
        *,
        tasks: int,
        time_ms: int,
        remotes: Mapping[str, RemoteLookup] | None = None,
        fill: FillStore | None = None,
        filled: Collection[str] = (),
        clock: EventClock | None = None,
    ) -> None:
        self._open = open_store
        self._remotes = remotes or {}
        self._fill = fill or self._put
        self._filled = filled  # the tables that side inputs fill
        self.schemas = schemas  # of tables, by name
        self.tasks: Sequence[int] = range(tasks)  # those that can work in this batch
        self.time_ms = time_ms  # what the batch takes for now
        self.clock = clock or EventClock()
        self.expressions = ExpressionClient()
        self.changes = ChangelogBuffer()
        self.late: list[LateRowBatch] = []
        self.misplaced: MisplacedKeys = _none_misplaced
        self.rejected: list[RejectedRow] = []
        self.failed: list[RejectedRow] = []  # rows on which an operation fails, and with them the batch
        self.ends_at_bad = False  # whether one bad record is as good as all: the app ends at it
        self.touched: dict[tuple[int, str], list[pa.Array]] = {}  # closed windows that late rows changed
        self.counted: Counter[tuple[str, str]] = Counter()  # by counter, and by the table or operator

    def store(self, task: int, name: str) -> Store:
        """A task's part of a table, or of an operator's own state."""
        return self._open(task, name)

    def ask(self, name: str, keys: pa.Array) -> LookupResult:
        """The rows of distinct keys in a remote table."""
        return self._remotes[name].find(keys, partial(self._count_of, name))

    def fill(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        """Take rows into a table that side inputs fill: it says by itself what it contains."""
        if len(keys):
            self._fill(task, name, keys, values)

    def write(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        """Write to a store and to its changelog. A null value deletes."""
        if name in self._filled:
            raise PermissionError(f'table "{name}" is filled only by its side inputs')
        if len(keys):
            self.store(task, name).put(keys, values)
            self.log(name, task, keys, values)

    def log(self, name: str, task: int, keys: pa.Array, values: pa.Array) -> None:
        """Collect changelog entries. Of a key that a batch writes several times the last one counts."""
        self.changes.add(task, name, keys, values)

    def _put(self, task: int, name: str, keys: pa.Array, values: pa.Array) -> None:
        self.store(task, name).put(keys, values)

    def count(self, counter: str, name: str, number: int) -> None:
        """Add to a counter, such as the null keys that a table was sent."""
        if number:
            self.counted[counter, name] += number

    def set_level(self, level: str, name: str, number: int) -> None:
        """Report a number that is not added to, such as the bytes of a table."""
        self.counted[level, name] = number

    def _count_of(self, name: str, counter: str, number: int) -> None:
        self.count(counter, name, number)

    def without_failures(self, rows: Slice, failures: Mapping[int, str]) -> Slice:
        """The other rows, once those that an operation fails on are noted, by their place, with a reason."""
        failed_rows = self.note_failures(rows, failures)
        return rows.filter(pa.array(~np.isin(np.arange(len(rows)), failed_rows))) if failed_rows else rows

    def note_failures(self, rows: Slice, failures: Mapping[int, str]) -> list[int]:
        """Note rows that an operation fails on, and say which they are: none of them is a tombstone."""
        failed_rows = [row for row in failures if not rows.tombstone[row].as_py()]
        for row in failed_rows:
            self.fail_row(rows, row, failures[row])
        return failed_rows

    def fail_row(self, rows: Slice, row: int, reason: str) -> None:
        """Note a row that an operation fails on, be it a tombstone."""
        source, offset = rows.source[row].as_py(), rows.offset[row].as_py()
        self.failed.append(RejectedRow(source, offset, reason))

    def leave_out(self, late: LateRowBatch) -> None:
        """Count rows that came too late, and keep them for whoever wants them."""
        self.count(LATE_ROWS_COUNTER, late.operator, len(late.rows))
        self.late.append(late)


def _none_misplaced(_stream: str, _source: int, _keys: pa.Array) -> Mapping[int, str]:
    """The misplaced keys where one task has all keys: none."""
    return {}

"""A lookup in a table, and the entries of the table's stores that are looked up.

An operator's own state has more in the keys of its entries than the keys of rows, so that not every kind can
be asked for a key, or for the keys with a prefix.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from streamapp_runtime.lanes.protocol.state_query import StateQuery
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.operators.state.stored_entries import SESSION_TIMES_PREFIX, SESSIONS_PREFIX, EntryKind

MOST_KEYS: Final = 100
"""So many keys may be asked for at once."""
MOST_ENTRIES: Final = 1_000
"""So many entries a scan gives at most; who wants more asks for what is behind the last one."""

LEAST_SHARE: Final = 8
"""A task gives so many entries of a page in any case."""


class QueryRefusedError(Exception):
    """A table cannot be asked for this: why, and what can be asked."""


@dataclass(frozen=True, slots=True)
class StateLookup:
    """The rows of some keys; else those whose keys have a prefix, in order of the entries' keys."""

    table: str
    keys: tuple[bytes, ...] = ()
    prefix: bytes = b""
    after: bytes | None = None  # the key of an entry; what is asked for lies behind it
    limit: int = MOST_ENTRIES  # entries that a scan gives at most
    snapshot: str = ""  # the name of the snapshot that is scanned; empty for the state as it is
    begins: bool = False  # whether the snapshot is made for this
    whole: bool = False  # whether each task may give a whole page, not little more than its share of one

    def query(self, table: KnownTable, tasks: int) -> StateQuery:
        """As it is asked of so many tasks; QueryRefusedError where entries of this kind cannot be."""
        kind = table.entries.kind if table.entries else EntryKind.ROWS
        if self.keys:
            keys, timed = _KEYS[kind](self)
            return StateQuery(0, self.table, (), keys, timed)
        start, end = _RANGES[kind](self)
        if self.after is not None:
            start = max(start, self.after + b"\0")
        return StateQuery(0, self.table, (), start=start, end=end, limit=self.share(tasks))

    def share(self, tasks: int) -> int:
        """The number of entries that each of so many tasks gives of a page at most.

        That is little more than its part, which is enough where keys are spread evenly: what many tasks give
        would else be many times as large as what is made of it.
        """
        part = 2 * (self.limit // max(tasks, 1)) + LEAST_SHARE
        return self.limit if self.whole else min(self.limit, part)


def _plain_keys(lookup: StateLookup) -> tuple[tuple[bytes, ...], bool]:
    return lookup.keys, False


def _timed_keys(lookup: StateLookup) -> tuple[tuple[bytes, ...], bool]:
    return lookup.keys, True


def _session_keys(lookup: StateLookup) -> tuple[tuple[bytes, ...], bool]:
    return tuple(SESSIONS_PREFIX + key for key in lookup.keys), False


def _no_keys(lookup: StateLookup) -> tuple[tuple[bytes, ...], bool]:
    raise QueryRefusedError(
        f'the rows of join "{lookup.table}" are kept by time, and cannot be looked up by key; scan them'
    )


def _plain_range(lookup: StateLookup) -> tuple[bytes, bytes | None]:
    return lookup.prefix, end_of_prefix(lookup.prefix)


def _session_range(lookup: StateLookup) -> tuple[bytes, bytes | None]:
    return SESSIONS_PREFIX + lookup.prefix, end_of_prefix(SESSIONS_PREFIX + lookup.prefix)


def _whole_range(lookup: StateLookup) -> tuple[bytes, bytes | None]:
    if lookup.prefix:
        raise QueryRefusedError(
            f'the entries of "{lookup.table}" are kept by time; scan them without a prefix'
        )
    return b"", None


_KEYS: Final[Mapping[EntryKind, Callable[[StateLookup], tuple[tuple[bytes, ...], bool]]]] = {
    EntryKind.ROWS: _plain_keys,
    EntryKind.WINDOWS: _timed_keys,
    EntryKind.SESSIONS: _session_keys,
    EntryKind.JOIN: _no_keys,
}
"""The keys of the entries that have the rows of a key, and whether a time stands before each."""
_RANGES: Final[Mapping[EntryKind, Callable[[StateLookup], tuple[bytes, bytes | None]]]] = {
    EntryKind.ROWS: _plain_range,
    EntryKind.WINDOWS: _whole_range,
    EntryKind.SESSIONS: _session_range,
    EntryKind.JOIN: _whole_range,
}
"""The entries that have the rows of a prefix."""
if missing_kinds := set(EntryKind) - (_KEYS.keys() & _RANGES.keys()):
    raise TypeError(f"nothing looks up entries of {missing_kinds}")
if not SESSIONS_PREFIX < SESSION_TIMES_PREFIX:
    raise TypeError("sessions are a range of their own")


def end_of_prefix(prefix: bytes) -> bytes | None:
    """The first key behind all with a prefix; None where there is none."""
    head = prefix.rstrip(b"\xff")
    return head[:-1] + bytes([head[-1] + 1]) if head else None

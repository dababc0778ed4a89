"""The snapshots of a worker's stores that are being read, a page at a time.

A page is a query as any other, answered with a batch. What is written between two pages, stores remember.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa

from streamapp_runtime.lanes.protocol.state_query import MOST_ANSWER_BYTES, StateAnswer, StateQuery
from streamapp_runtime.operators.state.time_keys import TIME_WIDTH
from streamapp_runtime.stores.recorded_store import (
    CLOSED,
    RecordedStore,
    ReplacedBytes,
    SnapshotExpiredError,
    StoreSnapshot,
)
from streamapp_runtime.stores.store import Store

Entry = tuple[bytes, bytes]


def answer_query(query: StateQuery, task: str, store: Store) -> StateAnswer:
    """The answer of a store to a query; nothing is pending in the store."""
    if not query.keys:
        return range_answer(query, task, store.scan(query.start, query.end))
    keys = sorted(timed_keys(store, query.keys)) if query.timed else sorted(query.keys)
    values = store.get(pa.array(keys, pa.binary())).to_pylist()
    held = ((key, value) for key, value in zip(keys, values, strict=True) if value is not None)
    entries, cut = _bounded(held, len(keys))
    return StateAnswer(query.number, task, entries, cut)


def range_answer(query: StateQuery, task: str, entries: Iterator[Entry]) -> StateAnswer:
    """The first entries of the range that is asked for."""
    # One entry more than is wanted tells whether the range continues.
    chosen, cut = _bounded(islice(entries, query.limit + 1), query.limit)
    return StateAnswer(query.number, task, chosen, cut)


def timed_keys(store: Store, keys: Iterable[bytes]) -> Iterator[bytes]:
    """The keys behind each time that entries of a store begin with; one look for each such time."""
    keys, start = tuple(keys), b""
    while (entry := next(store.scan(start), None)) is not None:
        time = entry[0][:TIME_WIDTH]
        yield from (time + key for key in keys)
        following = int.from_bytes(time) + 1
        if following >> 8 * TIME_WIDTH:
            return
        start = following.to_bytes(TIME_WIDTH)


def _bounded(entries: Iterable[Entry], most: int) -> tuple[tuple[Entry, ...], bool]:
    """The first entries, as far as an answer may be long; whether there are more."""
    chosen: list[Entry] = []
    size = 0
    for key, value in entries:
        size += len(key) + len(value)
        if len(chosen) == most or (chosen and size > MOST_ANSWER_BYTES):
            return tuple(chosen), True
        chosen.append((key, value))
    return tuple(chosen), False


_Opened = tuple[RecordedStore, StoreSnapshot]


@dataclass(slots=True)
class LaneSnapshots:
    """By the number of the snapshot and by task, as far as this worker has them."""

    _opened: dict[tuple[int, str], _Opened] = field(default_factory=dict)
    _memory: ReplacedBytes = field(default_factory=ReplacedBytes)

    def keep(self, numbers: Collection[int]) -> None:
        """Let go of all but these."""
        for key in [key for key in self._opened if key[0] not in numbers]:
            self._release(key)

    def answer(self, query: StateQuery, task: str, store: RecordedStore) -> StateAnswer:
        """The answer of a task to a query: of its store as it is, or of a snapshot of it."""
        if not query.snapshot:
            return answer_query(query, task, store)
        key = (query.snapshot, task)
        if query.begins:
            self._release(key)  # it was asked before, and not all tasks have answered
            self._opened[key] = (store, store.snapshot(self._memory))
        if key not in self._opened:
            return StateAnswer(query.number, task, missing=CLOSED, gone=True)
        try:
            return range_answer(query, task, self._opened[key][1].entries(query.start, query.end))
        except SnapshotExpiredError as error:
            return StateAnswer(query.number, task, missing=str(error), gone=True)

    def _release(self, key: tuple[int, str]) -> None:
        if key in self._opened:
            store, snapshot = self._opened.pop(key)
            store.release(snapshot)

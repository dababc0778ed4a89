"""The snapshots of a worker's stores that are being read, a page at a time.

A page is a query as any other, answered with a batch. What is written between two pages, stores remember.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from streamapp_runtime.lanes.protocol.state_query import StateAnswer, StateQuery
from streamapp_runtime.lanes.task_stores.state_lookup import answer_query, range_answer
from streamapp_runtime.stores.recorded_store import (
    CLOSED,
    RecordedStore,
    ReplacedBytes,
    SnapshotGoneError,
    StoreSnapshot,
)

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
        """What a task has of what is asked: of its store as it is, or of a snapshot of it."""
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
        except SnapshotGoneError as error:
            return StateAnswer(query.number, task, missing=str(error), gone=True)

    def _release(self, key: tuple[int, str]) -> None:
        if key in self._opened:
            store, snapshot = self._opened.pop(key)
            store.release(snapshot)

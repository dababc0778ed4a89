"""A lane of some tasks with real stores, on which operations are run as the engine runs them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from streamapp_runtime.operators.operation_executor import OperationExecutor
from streamapp_runtime.operators.state.event_clock import EventClock
from streamapp_runtime.operators.state.lane_state import LaneState, RejectedRow
from streamapp_runtime.rows.slice import Slice
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import open_store
from tests.harness.engine.plain_rows import Row, rows_of

TASKS = 3
Contents = dict[tuple[int, str], dict[bytes, bytes]]


class Lane:
    def __init__(self, kind: StoreKind, root: Path, schemas: Mapping[str, pa.Schema]) -> None:
        self.kind = kind
        self.root = root
        self.schemas = schemas
        self.stores: dict[tuple[int, str], Store] = {}
        self.replayed: Contents = {}
        self.counted: dict[tuple[str, str], int] = {}
        self.late: list[Row] = []
        self.failed: list[RejectedRow] = []
        self.batches = 0

    def open(self, task: int, name: str) -> Store:
        if (task, name) not in self.stores:
            self.stores[task, name] = open_store(
                self.kind,
                self.root / f"{task}" / name,
                StoreIdentity("run", str(task), name, ""),
                owner="tests",
                limits=StoreLimits(map_bytes=1 << 24),
            )
        return self.stores[task, name]

    def batch(
        self,
        executor: OperationExecutor,
        calls: Sequence[tuple[Slice, ...]],
        time_ms: int = 0,
        clock: EventClock | None = None,
    ) -> list[Row]:
        """Run a batch in so many calls, settle it, keep what it wrote, and note its changelog."""
        state = LaneState(self.open, self.schemas, tasks=TASKS, time_ms=time_ms, clock=clock)
        emitted = [row for slices in calls for row in rows_of(executor.execute(slices, state))]
        emitted += rows_of(executor.finish_batch(state))
        self.failed += state.failed
        for change in state.changes.drain():
            keys = change.keys.to_pylist()
            assert len(set(keys)) == len(keys)
            entries = self.replayed.setdefault((change.task, change.name), {})
            for key, value in zip(keys, change.values.to_pylist(), strict=True):
                entries[key] = value
        self.late += [row for late in state.late for row in rows_of(late.rows)]
        for (counter, name), number in state.counted.items():
            self.counted[counter, name] = self.counted.get((counter, name), 0) + number
        self.batches += 1
        for (task, name), store in self.stores.items():
            store.apply(StoreMark("run", str(task), name, "", str(self.batches), 0))
        return emitted

    def contents(self) -> Contents:
        found = {place: dict(store.scan()) for place, store in self.stores.items()}
        return {place: entries for place, entries in found.items() if entries}

    def replays(self) -> Contents:
        """What a replay of all changelogs gives."""
        kept = {
            place: {key: value for key, value in entries.items() if value is not None}
            for place, entries in self.replayed.items()
        }
        return {place: entries for place, entries in kept.items() if entries}


@contextmanager
def lane(kind: StoreKind = StoreKind.MEMORY, **schemas: pa.Schema) -> Iterator[Lane]:
    with TemporaryDirectory() as folder:
        made = Lane(kind, Path(folder), schemas)
        try:
            yield made
        finally:
            for store in made.stores.values():
                store.close()


def cut_up(rows: Sequence[Row], cuts: Sequence[int]) -> list[Sequence[Row]]:
    """The rows in pieces, cut at places that may lie anywhere."""
    places = sorted({cut % (len(rows) + 1) for cut in cuts} | {0, len(rows)})
    return [rows[start:end] for start, end in pairwise(places)] or [rows]

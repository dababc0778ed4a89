"""The stores of one lane in one worker: opened, settled and restored before any row is looked at.

A store is brought to exactly what its task's checkpoint says, by the smallest step that does it: pending
writes of the committed attempt are applied, others dropped; a store that is behind replays its changelog from
its mark; one that is ahead, is another's or cannot be read is emptied and replays all of it. What has
no changelog is all there, or begins empty.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.protocol.traffic import size_of
from streamapp_runtime.lanes.task_stores.store_claim import StoreClaim
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.stores.directories.state_directory import state_directory
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreMark
from streamapp_runtime.stores.store_opening import LOCK_WAIT_SECONDS
from streamapp_runtime.systems.stream_system import StreamSystem

RESTORE_SECONDS = 2.0
"""How long one batch restores at most, so that the other tasks of the lane go on."""

TOMBSTONES_KEPT_MS = 20 * 3_600_000
"""A mark older than this may have missed deletions: the changelog keeps them for a day, less a margin."""


@dataclass(slots=True)
class _Kept:
    store: Store
    place: StoreClaim
    pending: str = ""  # the attempt whose writes are pending


@dataclass(frozen=True, slots=True)
class RestoreProgress:
    """How far a task's stores were brought, in changelog entries."""

    restored: int = 0
    left: int = 0
    size: int = field(default=0, compare=False)  # bytes of what was restored


@dataclass(slots=True)
class LaneStores:
    """The stores that this worker holds; one object for as long as the worker serves one driver."""

    root: Path
    application_id: str
    run_id: str
    shelves: Mapping[str, StoreSpec]
    wait_seconds: float = LOCK_WAIT_SECONDS  # for a store that another process has
    begins: Mapping[Partition, int] = field(default_factory=dict)  # of changelogs that a former run wrote to
    _kept: dict[tuple[str, str], _Kept] = field(default_factory=dict)

    def settle(
        self, order: TaskOrder, system: StreamSystem, deadline: float, check: Callable[[], None]
    ) -> RestoreProgress:
        """Bring a task's stores to its checkpoint, until the deadline.

        Another process of the app that keeps a store is ended, once `check` has not said that it is this one
        whose time is over.
        """
        checkpoint = Checkpoint.decode(order.committed) if order.committed else Checkpoint(self.run_id)
        settled = []
        for shelf in self.shelves.values():
            kept = self._kept.get((order.name, shelf.name)) or self._taken(shelf, order.name, check)
            settled.append(self._settle(kept, shelf, order, checkpoint, system, deadline))
        restored, left = sum(each.restored for each in settled), sum(each.left for each in settled)
        return RestoreProgress(restored, left, sum(each.size for each in settled))

    def store(self, task: str, name: str) -> Store:
        """A store that was settled in this batch."""
        return self._kept[task, name].store

    def written(self, task: str, name: str, attempt: str) -> None:
        """Note whose writes are pending in a store."""
        self._kept[task, name].pending = attempt

    def sizes(self, task: str) -> tuple[int, int]:
        """Entries and bytes of a task's stores."""
        mine = [kept.store for (owner, _), kept in self._kept.items() if owner == task]
        return sum(store.count() for store in mine), sum(store.size_bytes() for store in mine)

    def release(self, keep: Iterable[str] = ()) -> None:
        """Close the stores of all tasks but these; what is pending in them is dropped."""
        kept = frozenset(keep)
        for task, name in [key for key in self._kept if key[0] not in kept]:
            self._kept.pop((task, name)).store.close()

    def _settle(
        self,
        kept: _Kept,
        shelf: StoreSpec,
        order: TaskOrder,
        checkpoint: Checkpoint,
        system: StreamSystem,
        deadline: float,
    ) -> RestoreProgress:
        wanted = checkpoint.changelogs.get(shelf.name, 0)
        identity = self._identity(shelf, order.name)
        if kept.pending:
            if kept.pending == checkpoint.attempt:
                crash_point("store.before-apply")
                kept.store.apply(_mark(identity, checkpoint.attempt, wanted))
            else:
                kept.store.drop()
            kept.pending = ""
        found = kept.store.mark
        if (found.changelog if found else 0) == wanted:
            return RestoreProgress()
        if shelf.changelog is None:  # writes are missing, and nothing can bring them back: begin empty
            kept.store = kept.place.emptied(kept.store)
            kept.store.set_mark(_mark(identity, "", wanted))
            return RestoreProgress()
        too_old = found is not None and found.written_ms < _now() - TOMBSTONES_KEPT_MS
        if found is not None and (found.changelog > wanted or too_old):
            kept.store = kept.place.emptied(kept.store)
            found = None
        source = Partition(shelf.changelog, order.changelog)
        begun = found or _mark(identity, "", 0)
        begun = replace(begun, changelog=max(begun.changelog, self.begins.get(source, 0)))
        return _restore(kept.store, begun, wanted, source, system, deadline)

    def _taken(self, shelf: StoreSpec, task: str, check: Callable[[], None]) -> _Kept:
        directory = state_directory(self.root, self.application_id, task, shelf.name)
        identity = self._identity(shelf, task)
        place = StoreClaim(directory, shelf.kind, identity, self.application_id, self.wait_seconds)
        kept = self._kept[task, shelf.name] = _Kept(place.take(check), place)
        return kept

    def _identity(self, shelf: StoreSpec, task: str) -> StoreIdentity:
        return StoreIdentity(self.run_id, task, shelf.name, shelf.schema)


def _restore(
    store: Store, found: StoreMark, wanted: int, source: Partition, system: StreamSystem, deadline: float
) -> RestoreProgress:
    """Replay entries until all are there or time is up."""
    restored = size = 0
    at = max(found.changelog, system.spans([source])[source].oldest)
    for records in system.read(source, at, wanted):
        store.load(records.column("key"), records.column("value"))
        restored += records.num_rows
        size += size_of(records.column("key")) + size_of(records.column("value"))
        crash_point("store.loaded")
        at = records.column("offset")[-1].as_py() + 1
        if time.monotonic() > deadline:
            break
    else:
        at = wanted
    store.set_mark(replace(found, changelog=at, written_ms=_now()))
    return RestoreProgress(restored, wanted - at, size)


def _mark(identity: StoreIdentity, attempt: str, changelog: int) -> StoreMark:
    return StoreMark(
        identity.run_id, identity.task, identity.table, identity.schema, attempt, changelog, written_ms=_now()
    )


def _now() -> int:
    return time.time_ns() // 1_000_000

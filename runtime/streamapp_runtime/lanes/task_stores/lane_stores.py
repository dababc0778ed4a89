"""The stores of one lane in one worker: opened and restored to the checkpoint before any row is looked at.

A store is brought to exactly what its task's checkpoint says, by the smallest step that does it: pending
writes of the committed attempt are applied, others dropped; a store that is behind replays its changelog from
its mark; one that is ahead, is another's or cannot be read is emptied and replays all of it. What has
no changelog is all there, or begins empty.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from streamapp.placement.locations.store_history import USABLE_SECONDS
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.task_stores.store_claim import StoreClaim
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.rows.byte_columns import byte_count
from streamapp_runtime.stores.directories.state_directory import state_directory
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import LOCK_WAIT_SECONDS
from streamapp_runtime.systems.app_systems import Systems

RESTORE_SECONDS = 2.0
"""How long one batch restores at most, so that the other tasks of the lane go on."""

TOMBSTONES_KEPT_MS = USABLE_SECONDS * 1_000
"""A mark older than this may have missed deletions: the changelog keeps them for a day, less a margin."""


@dataclass(slots=True)
class _OpenStore:
    store: RecordedStore
    place: StoreClaim
    pending: str = ""  # the attempt whose writes are pending


@dataclass(frozen=True, slots=True)
class RestoreProgress:
    """The progress of the restore of a task's stores, in changelog entries."""

    restored: int = 0
    left: int = 0
    size: int = field(default=0, compare=False)  # bytes of what was restored

    def __add__(self, other: "RestoreProgress") -> "RestoreProgress":
        """Of both together."""
        return RestoreProgress(self.restored + other.restored, self.left + other.left, self.size + other.size)


@dataclass(slots=True)
class LaneStores:
    """The stores that this worker has open; one object for as long as the worker serves one driver."""

    root: Path
    application_id: str
    run_id: str
    specs: Mapping[str, StoreSpec]
    wait_seconds: float = LOCK_WAIT_SECONDS  # for a store that another process has
    begins: Mapping[Partition, int] = field(default_factory=dict)  # of changelogs that a former run wrote to
    _open: dict[tuple[str, str], _OpenStore] = field(default_factory=dict)

    def restore(
        self, order: TaskOrder, systems: Systems, deadline: float, check: Callable[[], None]
    ) -> RestoreProgress:
        """Bring a task's stores to its checkpoint, until the deadline.

        Another process of the app that keeps a store is ended, once `check` has not said that it is this one
        whose time is over.
        """
        checkpoint = Checkpoint.decode(order.committed) if order.committed else Checkpoint(self.run_id)
        progress = RestoreProgress()
        for spec in self.specs.values():
            opened = self._open.get((order.name, spec.name)) or self._open_store(spec, order.name, check)
            progress += self._restore_store(opened, spec, order, checkpoint, systems, deadline)
        return progress

    def store(self, task: str, name: str) -> RecordedStore:
        """A store that was restored for this batch."""
        return self._open[task, name].store

    def note_pending(self, task: str, name: str, attempt: str) -> None:
        """Note whose writes are pending in a store."""
        self._open[task, name].pending = attempt

    def on_disk(self) -> Iterator[tuple[str, Store]]:
        """The open stores that are files, by their table."""
        for (_, name), opened in self._open.items():
            if self.specs[name].kind is not StoreKind.MEMORY:
                yield name, opened.store

    def release(self, keep: Iterable[str] = ()) -> None:
        """Close the stores of all tasks but these; what is pending in them is dropped."""
        tasks = frozenset(keep)
        for task, name in [key for key in self._open if key[0] not in tasks]:
            self._open.pop((task, name)).store.close()

    def _restore_store(
        self,
        opened: _OpenStore,
        spec: StoreSpec,
        order: TaskOrder,
        checkpoint: Checkpoint,
        systems: Systems,
        deadline: float,
    ) -> RestoreProgress:
        changelog_end = checkpoint.changelogs.get(spec.name, 0)
        identity = self._identity(spec, order.name)
        if opened.pending:
            if opened.pending == checkpoint.attempt:
                crash_point("store.before-apply")
                opened.store.apply(_mark(identity, checkpoint.attempt, changelog_end))
            else:
                opened.store.drop()
            opened.pending = ""
        mark = opened.store.mark
        if (mark.changelog if mark else 0) == changelog_end:
            return RestoreProgress()
        if spec.changelog is None:  # writes are missing, and nothing can bring them back: begin empty
            opened.store = opened.place.emptied(opened.store)
            opened.store.set_mark(_mark(identity, "", changelog_end))
            return RestoreProgress()
        too_old = mark is not None and mark.written_ms < _now() - TOMBSTONES_KEPT_MS
        if mark is not None and (mark.changelog > changelog_end or too_old):
            opened.store = opened.place.emptied(opened.store)
            mark = None
        source = Partition(spec.changelog, order.changelog)
        begun = mark or _mark(identity, "", 0)
        begun = replace(begun, changelog=max(begun.changelog, self.begins.get(source, 0)))
        return _restore(opened.store, begun, changelog_end, source, systems, deadline)

    def _open_store(self, spec: StoreSpec, task: str, check: Callable[[], None]) -> _OpenStore:
        directory = state_directory(self.root, self.application_id, task, spec.name)
        identity = self._identity(spec, task)
        place = StoreClaim(directory, spec.kind, identity, self.application_id, self.wait_seconds)
        opened = self._open[task, spec.name] = _OpenStore(place.take(check), place)
        return opened

    def _identity(self, spec: StoreSpec, task: str) -> StoreIdentity:
        return StoreIdentity(self.run_id, task, spec.name, spec.schema)


def _restore(
    store: Store,
    mark: StoreMark,
    changelog_end: int,
    source: Partition,
    systems: Systems,
    deadline: float,
) -> RestoreProgress:
    """Replay entries until all are there or time is up."""
    restored = size = 0
    at = max(mark.changelog, systems.spans([source])[source].oldest)
    for records in systems.read(source, at, changelog_end):
        store.load(records.column("key"), records.column("value"))
        restored += records.num_rows
        size += byte_count(records.column("key")) + byte_count(records.column("value"))
        crash_point("store.loaded")
        at = records.column("offset")[-1].as_py() + 1
        if time.monotonic() > deadline:
            break
    else:
        at = changelog_end
    store.set_mark(replace(mark, changelog=at, written_ms=_now()))
    return RestoreProgress(restored, changelog_end - at, size)


def _mark(identity: StoreIdentity, attempt: str, changelog: int) -> StoreMark:
    return StoreMark(
        identity.run_id, identity.task, identity.table, identity.schema, attempt, changelog, written_ms=_now()
    )


def _now() -> int:
    return time.time_ns() // 1_000_000

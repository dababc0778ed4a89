"""The stores of tables that side inputs fill, as one worker of a lane keeps them.

Rows and the positions up to which they were read are committed in the store at once, when all rows of a batch
have come: nothing is pending, and there is no changelog. So a store says by itself what it contains, may be
ahead of the checkpoint, and is asked for what it contains before more is read into it.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.side_inputs.store_recovery import FillingPartition, StoreAction, recover_store
from streamapp.side_inputs.store_validity import FoundStore, HeldOffsets, is_refresh_due
from streamapp.tasks.partition import Partition
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.protocol.batch_orders import BroadcastOrder, SidePartition, TaskOrder
from streamapp_runtime.lanes.task_stores.sealed_versions import SEALED_FOLDER, SealedVersions
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec
from streamapp_runtime.lanes.task_stores.store_claim import StoreClaim
from streamapp_runtime.lanes.task_stores.table_versions import TableVersions
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK, state_directory
from streamapp_runtime.stores.engines.memory_store import MemoryStore
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import LOCK_WAIT_SECONDS
from streamapp_runtime.systems.stream_system import StreamSystem

Writes = tuple[pa.Array, pa.Array]


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class _Kept:
    store: Store
    place: StoreClaim
    positions: dict[Partition, int]  # what it contains
    sealed: SealedVersions | None = None  # where rows come as versions
    judged: bool = False  # whether it was decided what it is good for
    coming: list[Writes] = field(default_factory=list)
    dirty: bool = False  # whether it was written to since it was last committed


@dataclass(slots=True)
class SideInputStores:
    """The stores that this worker keeps; one object for as long as the worker serves one driver."""

    root: Path
    application_id: str
    run_id: str
    shelves: Mapping[str, SideInputStoreSpec]
    wait_seconds: float = LOCK_WAIT_SECONDS  # for a store that another process has
    clock: Callable[[], int] = _now
    _kept: dict[tuple[str, str], _Kept] = field(default_factory=dict)
    _versions: dict[str, TableVersions] = field(default_factory=dict)  # of broadcast tables on disk
    _nothing: Store = field(default_factory=lambda: MemoryStore(StoreLimits()))  # before there is a version

    def share(self, orders: Iterable[BroadcastOrder]) -> None:
        """Read the versions of broadcast tables that a batch is to see; those it does not are removed."""
        fills = set()
        for order in orders:
            shelf = self.shelves.get(order.table)
            if shelf is None:
                continue
            if order.fills:
                fills.add(shelf.name)
            if shelf.kind is not StoreKind.MEMORY:
                versions = self._versions.get(shelf.name) or self._made_versions(shelf)
                versions.use(order.version)
                if order.fills:
                    versions.sweep()
        self._close(key for key in self._kept if key[0] == EVERY_TASK and key[1] not in fills)

    def publish(self, order: BroadcastOrder) -> bool:
        """Make a version of a broadcast table; whether that is this worker's to do, and done."""
        kept = self._kept.get((EVERY_TASK, order.table))
        if kept is None:
            return False
        if kept.sealed:
            return kept.sealed.share(self._versions[order.table], order.makes, again=not order.version)
        store: Any = kept.store
        self._versions[order.table].publish(store, order.makes)
        return True

    def settle(
        self, order: TaskOrder, system: StreamSystem, check: Callable[[], None]
    ) -> dict[Partition, int]:
        """Open a task's stores and judge them, where that was not done; what they contain."""
        contained: dict[Partition, int] = {}
        for shelf in self.shelves.values():
            wanted = {Partition(s.name, s.partition): s for s in order.sides if s.name in shelf.sides}
            if shelf.broadcast and not wanted:
                continue  # another lane, or another task of this one, fills it
            key = self._key(order.name, shelf.name)
            kept = self._kept.get(key)
            if kept is None:
                place = self._place(shelf, key[0])
                kept = self._kept[key] = _Kept(place.take(check), place, {}, _sealed(shelf, place))
            self._forget(kept)
            if not kept.judged or kept.positions.keys() != wanted.keys():
                self._judge(kept, shelf, wanted, system)
            self._refresh(kept, shelf)
            contained |= kept.positions
        return contained

    def store(self, task: str, name: str) -> Store:
        """What rows of a task see of a table that was settled in this batch."""
        versions = self._versions.get(name)
        if versions is not None:
            return versions.store or self._nothing
        kept = self._kept[self._key(task, name)]
        return (kept.sealed.store or self._nothing) if kept.sealed else kept.store

    def held(self, task: str) -> list[str]:
        """What is not read on, and the side inputs of which nothing is seen yet."""
        mine = [
            self._kept.get(self._key(task, name)) for name, shelf in self.shelves.items() if shelf.versions
        ]
        return [name for kept in mine if kept and kept.sealed for name in kept.sealed.held(kept.positions)]

    def fill(self, task: str, name: str, keys: pa.Array, values: pa.Array) -> None:
        """Take rows of a table's streams. A null value deletes."""
        kept = self._kept[self._key(task, name)]
        if self.shelves[name].before_join:
            kept.store.put(keys, values)
            kept.dirty = True
        else:
            kept.coming.append((keys, values))

    def apply(
        self, order: TaskOrder, arrived: Mapping[Partition, int], seals: Mapping[Partition, EndOfVersion]
    ) -> dict[Partition, int]:
        """Commit what came of a task's streams with the positions that were reached; what is contained now.

        What was read from elsewhere than where the store ends is dropped: the driver did not know the store.
        """
        starts = {Partition(r.stream, r.partition): r.start for r in order.ranges}
        contained: dict[Partition, int] = {}
        for shelf in self.shelves.values():
            reached = {p: end for p, end in arrived.items() if p.stream in shelf.sides}
            if shelf.broadcast and not reached:
                continue
            kept = self._kept[self._key(order.name, shelf.name)]
            ended = kept.sealed.filling.ended if kept.sealed else frozenset()
            if any(kept.positions.get(p) != starts.get(p) or p in ended for p in reached):
                self._forget(kept)
            elif reached:
                crash_point("adjunct.before-apply")
                for keys, values in kept.coming:
                    kept.store.put(keys, values)
                kept.positions |= reached
                if kept.sealed:
                    kept.sealed.hear({p: seal for p, seal in seals.items() if p in reached})
                kept.store.apply(self._mark(kept))
                kept.coming, kept.dirty = [], False
                crash_point("adjunct.applied")
                self._swap(kept, shelf)
            contained |= kept.positions
        return contained

    def drop(self) -> None:
        """Forget what came in this batch."""
        for kept in self._kept.values():
            self._forget(kept)

    def release(self, keep: Iterable[str] = ()) -> None:
        """Close the stores of all tasks but these, noting until when they were followed."""
        going = frozenset(keep)
        self._close(key for key in self._kept if key[0] not in going)
        if not going:
            for versions in self._versions.values():
                versions.close()

    def _close(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in list(keys):
            kept = self._kept.pop(key)
            try:
                self._forget(kept)
                if kept.positions:
                    kept.store.set_mark(self._mark(kept))
            finally:
                kept.store.close()
                if kept.sealed:
                    kept.sealed.close()

    def _judge(
        self,
        kept: _Kept,
        shelf: SideInputStoreSpec,
        wanted: Mapping[Partition, SidePartition],
        system: StreamSystem,
    ) -> None:
        """Decide whether a store is gone on with, and note from where its streams are read."""
        sources = dict(_sources(shelf, wanted.values(), system))
        mark = kept.store.mark
        found = None if mark is None else FoundStore(mark.written_ms, _parsed(mark.positions))
        if kept.sealed and mark is not None and not kept.sealed.found(mark.version):
            found = FoundStore(0, _parsed(mark.positions))  # what was seen is lost: as old as can be
        decided = recover_store(found, sources, now_ms=self.clock(), retention_ms=shelf.retention_ms)
        if decided.action is StoreAction.RECREATE:
            kept.store = kept.place.emptied(kept.store)
        if kept.sealed and decided.action is not StoreAction.KEEP:
            kept.sealed.begin()
        kept.positions, kept.judged = dict(decided.positions), True
        kept.store.set_mark(self._mark(kept))
        self._swap(kept, shelf)

    def _swap(self, kept: _Kept, shelf: SideInputStoreSpec) -> None:
        """See the next version where it is whole."""
        if kept.sealed and kept.sealed.filling.whole(kept.positions):
            empty = MemoryStore(StoreLimits()) if shelf.kind is StoreKind.MEMORY else None
            kept.store = kept.sealed.swap(kept.store, empty, lambda store: store.apply(self._mark(kept)))

    def _refresh(self, kept: _Kept, shelf: SideInputStoreSpec) -> None:
        mark = kept.store.mark
        if mark is not None and is_refresh_due(self.clock() - mark.written_ms, shelf.retention_ms):
            kept.store.set_mark(self._mark(kept))

    def _forget(self, kept: _Kept) -> None:
        kept.coming = []
        if kept.dirty:
            kept.store.drop()
            kept.dirty = False

    def _made_versions(self, shelf: SideInputStoreSpec) -> TableVersions:
        folder = state_directory(self.root, self.application_id, EVERY_TASK, shelf.name) / "versions"
        made = self._versions[shelf.name] = TableVersions(folder, shelf.kind)
        return made

    def _key(self, task: str, name: str) -> tuple[str, str]:
        return (EVERY_TASK if self.shelves[name].broadcast else task), name

    def _place(self, shelf: SideInputStoreSpec, task: str) -> StoreClaim:
        directory = state_directory(self.root, self.application_id, task, shelf.name)
        identity = StoreIdentity(self.run_id, task, shelf.name, shelf.meaning)
        return StoreClaim(directory, shelf.kind, identity, self.application_id, self.wait_seconds)

    def _mark(self, kept: _Kept) -> StoreMark:
        identity = kept.place.identity
        return StoreMark(
            identity.run_id,
            identity.task,
            identity.table,
            identity.schema,
            attempt="",
            changelog=0,
            written_ms=self.clock(),
            positions={str(partition): at for partition, at in sorted(kept.positions.items())},
            version=kept.sealed.filling.text() if kept.sealed else "",
        )


def _sealed(shelf: SideInputStoreSpec, place: StoreClaim) -> SealedVersions | None:
    """Where rows come as versions: those of a store. Of one for many lanes each reads a copy."""
    versions = TableVersions(place.directory / SEALED_FOLDER, shelf.kind, reads=not shelf.broadcast)
    return SealedVersions(versions) if shelf.versions else None


def _sources(
    shelf: SideInputStoreSpec, wanted: Collection[SidePartition], system: StreamSystem
) -> Iterator[tuple[Partition, FillingPartition]]:
    asked = {s: Partition(shelf.sides[s.name].topic, s.partition) for s in wanted}
    spans = system.spans(asked.values())
    for side, partition in asked.items():
        held = HeldOffsets(spans[partition].oldest, spans[partition].end)
        yield (
            Partition(side.name, side.partition),
            FillingPartition(shelf.sides[side.name].bootstrap, held, side.last),
        )


def _parsed(positions: Mapping[str, int]) -> dict[Partition, int]:
    return {Partition.parse(name): at for name, at in positions.items()}

"""The stores of tables that side inputs fill, as one worker of a lane keeps them.

Rows and the positions up to which they were read are committed in the store at once, when all rows of a batch
have come: nothing is pending, and there is no changelog. So a store says by itself what it contains, may be
ahead of the checkpoint, and is asked for what it contains before more is read into it.
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from streamapp.side_inputs.side_input_version import EndOfVersion
from streamapp.side_inputs.store_recovery import FillingPartition, StoreAction, recover_store
from streamapp.side_inputs.store_validity import StoreOnDisk, is_refresh_due
from streamapp.tasks.partition import Partition
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.protocol.batch_orders import BroadcastOrder, SidePartition, TaskOrder
from streamapp_runtime.lanes.task_stores.sealed_versions import SEALED_FOLDER, SealedVersions
from streamapp_runtime.lanes.task_stores.side_input_specs import SideInputStoreSpec
from streamapp_runtime.lanes.task_stores.store_claim import StoreClaim
from streamapp_runtime.lanes.task_stores.table_versions import TableVersions
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK, state_directory
from streamapp_runtime.stores.engines.memory_store import MemoryStore
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import Store, StoreIdentity, StoreKind, StoreLimits, StoreMark
from streamapp_runtime.stores.store_opening import LOCK_WAIT_SECONDS
from streamapp_runtime.systems.app_systems import Systems

Writes = tuple[pa.Array, pa.Array]


def _now() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class _OpenTable:
    store: RecordedStore
    place: StoreClaim
    positions: dict[Partition, int]  # what it contains
    sealed: SealedVersions | None = None  # where rows come as versions
    recovery_decided: bool = False  # whether it was decided what it is good for
    pending_writes: list[Writes] = field(default_factory=list)
    dirty: bool = False  # whether it was written to since it was last committed


@dataclass(slots=True)
class SideInputStores:
    """The stores that this worker has open; one object for as long as the worker serves one driver."""

    root: Path
    application_id: str
    run_id: str
    specs: Mapping[str, SideInputStoreSpec]
    wait_seconds: float = LOCK_WAIT_SECONDS  # for a store that another process has
    clock: Callable[[], int] = _now
    _open: dict[tuple[str, str], _OpenTable] = field(default_factory=dict)
    _versions: dict[str, TableVersions] = field(default_factory=dict)  # of broadcast tables on disk
    _nothing: RecordedStore = field(
        default_factory=lambda: RecordedStore(MemoryStore(StoreLimits()))
    )  # before there is a version

    def share(self, orders: Iterable[BroadcastOrder]) -> None:
        """Read the versions of broadcast tables that a batch is to see; those it does not are removed."""
        fills = set()
        for order in orders:
            spec = self.specs.get(order.table)
            if spec is None:
                continue
            if order.fills:
                fills.add(spec.name)
            if spec.kind is not StoreKind.MEMORY:
                versions = self._versions.get(spec.name) or self._made_versions(spec)
                versions.use(order.version)
                if order.fills:
                    versions.sweep(order.keeps)
        self._close(key for key in self._open if key[0] == EVERY_TASK and key[1] not in fills)

    def publish(self, order: BroadcastOrder) -> bool:
        """Make a version of a broadcast table; whether that is this worker's to do, and done."""
        table = self._open.get((EVERY_TASK, order.table))
        if table is None:
            return False
        if table.sealed:
            return table.sealed.share(self._versions[order.table], order.makes, again=not order.version)
        self._versions[order.table].publish(table.store, order.makes)
        return True

    def restore(self, order: TaskOrder, systems: Systems, check: Callable[[], None]) -> dict[Partition, int]:
        """Open a task's stores and recover them, where that was not done; what they contain."""
        contained: dict[Partition, int] = {}
        for spec in self.specs.values():
            sides = {Partition(s.name, s.partition): s for s in order.side_inputs if s.name in spec.sides}
            if spec.broadcast and not sides:
                continue  # another lane, or another task of this one, fills it
            key = self._key(order.name, spec.name)
            table = self._open.get(key)
            if table is None:
                place = self._place(spec, key[0])
                table = self._open[key] = _OpenTable(place.take(check), place, {}, _sealed(spec, place))
            self._drop_pending(table)
            if not table.recovery_decided or table.positions.keys() != sides.keys():
                self._recover(table, spec, sides, systems)
            self._refresh(table, spec)
            contained |= table.positions
        return contained

    def store(self, task: str, name: str) -> RecordedStore:
        """The store of a table that was restored for this batch, as rows of a task see it."""
        versions = self._versions.get(name)
        if versions is not None:
            return versions.store or self._nothing
        table = self._open[self._key(task, name)]
        return (table.sealed.store or self._nothing) if table.sealed else table.store

    def on_disk(self) -> Iterator[tuple[str, Store]]:
        """The stores that this worker fills and that are files, by their table."""
        for (_, name), table in self._open.items():
            if self.specs[name].kind is not StoreKind.MEMORY:
                yield name, table.store

    @contextmanager
    def newest_shared(self, name: str) -> Iterator[Store | None]:
        """The newest rows of a broadcast table that this worker fills, for the next batch; else None."""
        table = self._open.get((EVERY_TASK, name))
        if table is None or table.sealed is None:
            yield table.store if table else None
            return
        with table.sealed.opened() as store:
            yield store

    def paused_inputs(self, task: str) -> list[str]:
        """The partitions that are not read on, and the side inputs of which nothing is seen yet."""
        tables = [self._open.get(self._key(task, name)) for name, spec in self.specs.items() if spec.versions]
        return [
            name
            for table in tables
            if table and table.sealed
            for name in table.sealed.paused_inputs(table.positions)
        ]

    def fill(self, task: str, name: str, keys: pa.Array, values: pa.Array) -> None:
        """Take rows of a table's streams. A null value deletes."""
        table = self._open[self._key(task, name)]
        if self.specs[name].before_join:
            table.store.put(keys, values)
            table.dirty = True
        else:
            table.pending_writes.append((keys, values))

    def apply(
        self, order: TaskOrder, arrived: Mapping[Partition, int], seals: Mapping[Partition, EndOfVersion]
    ) -> dict[Partition, int]:
        """Commit what came of a task's streams with the positions that were reached; what is contained now.

        What was read from elsewhere than where the store ends is dropped: the driver did not know the store.
        """
        starts = {Partition(r.stream, r.partition): r.start for r in order.ranges if not r.only_rejects}
        contained: dict[Partition, int] = {}
        for spec in self.specs.values():
            reached = {p: end for p, end in arrived.items() if p.stream in spec.sides}
            if spec.broadcast and not reached:
                continue
            table = self._open[self._key(order.name, spec.name)]
            ended = table.sealed.filling.ended if table.sealed else frozenset()
            if any(table.positions.get(p) != starts.get(p) or p in ended for p in reached):
                self._drop_pending(table)
            elif reached:
                crash_point("adjunct.before-apply")
                for keys, values in table.pending_writes:
                    table.store.put(keys, values)
                table.positions |= reached
                if table.sealed:
                    table.sealed.note_seals({p: seal for p, seal in seals.items() if p in reached})
                table.store.apply(self._mark(table))
                table.pending_writes, table.dirty = [], False
                crash_point("adjunct.applied")
                self._swap(table, spec)
            contained |= table.positions
        return contained

    def drop(self) -> None:
        """Forget what came in this batch."""
        for table in self._open.values():
            self._drop_pending(table)

    def release(self, keep: Iterable[str] = ()) -> None:
        """Close the stores of all tasks but these, noting until when they were followed."""
        tasks = frozenset(keep)
        self._close(key for key in self._open if key[0] not in tasks)
        if not tasks:
            for versions in self._versions.values():
                versions.close()

    def _close(self, keys: Iterable[tuple[str, str]]) -> None:
        for key in list(keys):
            table = self._open.pop(key)
            try:
                self._drop_pending(table)
                if table.positions:
                    table.store.set_mark(self._mark(table))
            finally:
                table.store.close()
                if table.sealed:
                    table.sealed.close()

    def _recover(
        self,
        table: _OpenTable,
        spec: SideInputStoreSpec,
        sides: Mapping[Partition, SidePartition],
        systems: Systems,
    ) -> None:
        """Decide whether a store is gone on with, and note from where its streams are read."""
        sources = dict(_sources(spec, sides.values(), systems))
        mark = table.store.mark
        found_store = None if mark is None else StoreOnDisk(mark.written_ms, _parsed(mark.positions))
        if table.sealed and mark is not None and not table.sealed.resume_from(mark.version):
            found_store = StoreOnDisk(0, _parsed(mark.positions))  # what was seen is lost: as old as can be
        decided = recover_store(found_store, sources, now_ms=self.clock(), retention_ms=spec.retention_ms)
        if decided.action is StoreAction.RECREATE:
            table.store = table.place.emptied(table.store)
        if table.sealed and decided.action is not StoreAction.KEEP:
            table.sealed.begin()
        table.positions, table.recovery_decided = dict(decided.positions), True
        table.store.set_mark(self._mark(table))
        self._swap(table, spec)

    def _swap(self, table: _OpenTable, spec: SideInputStoreSpec) -> None:
        """See the next version where it is whole."""
        if table.sealed and table.sealed.filling.whole(table.positions):
            empty = RecordedStore(MemoryStore(StoreLimits())) if spec.kind is StoreKind.MEMORY else None
            table.store = table.sealed.swap(table.store, empty, lambda store: store.apply(self._mark(table)))

    def _refresh(self, table: _OpenTable, spec: SideInputStoreSpec) -> None:
        mark = table.store.mark
        if mark is not None and is_refresh_due(self.clock() - mark.written_ms, spec.retention_ms):
            table.store.set_mark(self._mark(table))

    def _drop_pending(self, table: _OpenTable) -> None:
        table.pending_writes = []
        if table.dirty:
            table.store.drop()
            table.dirty = False

    def _made_versions(self, spec: SideInputStoreSpec) -> TableVersions:
        folder = state_directory(self.root, self.application_id, EVERY_TASK, spec.name) / "versions"
        versions = self._versions[spec.name] = TableVersions(folder, spec.kind)
        return versions

    def _key(self, task: str, name: str) -> tuple[str, str]:
        return (EVERY_TASK if self.specs[name].broadcast else task), name

    def _place(self, spec: SideInputStoreSpec, task: str) -> StoreClaim:
        directory = state_directory(self.root, self.application_id, task, spec.name)
        identity = StoreIdentity(self.run_id, task, spec.name, spec.meaning)
        return StoreClaim(directory, spec.kind, identity, self.application_id, self.wait_seconds)

    def _mark(self, table: _OpenTable) -> StoreMark:
        identity = table.place.identity
        return StoreMark(
            identity.run_id,
            identity.task,
            identity.table,
            identity.schema,
            attempt="",
            changelog=0,
            written_ms=self.clock(),
            positions={str(partition): at for partition, at in sorted(table.positions.items())},
            version=table.sealed.filling.text() if table.sealed else "",
        )


def _sealed(spec: SideInputStoreSpec, place: StoreClaim) -> SealedVersions | None:
    """The versions of a store whose rows come as versions. Of one for many lanes each reads a copy."""
    versions = TableVersions(place.directory / SEALED_FOLDER, spec.kind, reads=not spec.broadcast)
    return SealedVersions(versions) if spec.versions else None


def _sources(
    spec: SideInputStoreSpec, sides: Collection[SidePartition], systems: Systems
) -> Iterator[tuple[Partition, FillingPartition]]:
    partitions = {side: Partition(side.name, side.partition) for side in sides}
    spans = systems.spans(partitions.values())
    for side, partition in partitions.items():
        filling = FillingPartition(spec.sides[side.name].bootstrap, spans[partition], side.last)
        yield partition, filling


def _parsed(positions: Mapping[str, int]) -> dict[Partition, int]:
    return {Partition.parse(name): at for name, at in positions.items()}

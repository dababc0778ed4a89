"""The versions of a bounded data set that one task keeps: one is seen, the next is filled beside it.

A version that is whole is copied, and seen from the next batch on; then the store is emptied for the one that
follows. Killed anywhere in between, the same is done again: the store's mark says that the version was whole.
"""

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from streamapp.side_inputs.side_input_version import EndOfVersion, SideInputVersion
from streamapp.tasks.partition import Partition
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.lanes.task_stores.table_versions import TableVersions
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import Store
from streamapp_runtime.stores.store_snapshot import LinkedCopy, open_snapshot

SEALED_FOLDER = "sealed"
"""Where a store has its whole versions, beside its data."""


@dataclass(slots=True)
class SealedVersions:
    """The version that is seen, and the progress of the next one."""

    snapshots: TableVersions
    filling: SideInputVersion = field(default_factory=SideInputVersion)
    _visible_store: RecordedStore | None = None  # the version that is seen, of a store in memory
    _shared: int = 0  # the version of which other lanes were given a copy

    @property
    def store(self) -> RecordedStore | None:
        """The version that is seen; None before one is whole."""
        return self._visible_store or self.snapshots.store

    @contextmanager
    def opened(self) -> Iterator[Store | None]:
        """The version that is whole, also where only other lanes see it; None before there is one."""
        if self.store is not None or not self.filling.sealed:
            yield self.store
            return
        with TemporaryDirectory() as folder:  # LMDB opens a file once in a process, and a lane may have it
            version = self.snapshots.folder / self._name(self.filling.sealed)
            copy = shutil.copytree(version, Path(folder, "copy"))
            with closing(open_snapshot(self.snapshots.kind, copy)) as store:
                yield store

    def resume_from(self, text: str) -> bool:
        """Take up what a mark says; whether it can be read, and the version that it says is seen is there."""
        filling = SideInputVersion.parse(text)
        if filling is None:
            return False
        self.filling = filling
        if self.filling.sealed and not (self.snapshots.folder / self._name(self.filling.sealed)).is_dir():
            return False
        self.snapshots.use(self._name(self.filling.sealed))
        return True

    def begin(self) -> None:
        """Begin with nothing."""
        self.close()
        self.snapshots.sweep()
        self.filling, self._shared = SideInputVersion(), 0

    def note_seals(self, seals: Mapping[Partition, EndOfVersion]) -> None:
        """Take the ends that came."""
        for partition, seal in seals.items():
            self.filling = self.filling.with_end(partition, seal)

    def paused_inputs(self, partitions: Collection[Partition]) -> list[str]:
        """The partitions not read on until the version is whole; and all side inputs while none is seen."""
        unseen = set() if self.filling.sealed else {p.stream for p in partitions}
        return [*map(str, sorted(self.filling.ended)), *sorted(unseen)]

    def swap(
        self, store: RecordedStore, empty: RecordedStore | None, commit: Callable[[Store], None]
    ) -> RecordedStore:
        """See the whole version, unless it is abandoned; gives the store that the next one is filled into.

        `empty` is a new store where stores are in memory; `commit` writes the mark.
        """
        self.filling, whole = self.filling.following(), self.filling
        if empty is not None:
            if not whole.is_abandoned:
                self._visible_store = store
            commit(empty)
            return empty
        name = self._name(self.filling.sealed)
        if not whole.is_abandoned:
            self.snapshots.remove(name)  # begun by a worker that was killed
            self.snapshots.publish(store, name)
            crash_point("adjunct.sealed")
        for keys, _ in list(store.batches()):
            store.put(keys, pa.nulls(len(keys), pa.binary()))
        commit(store)
        self.snapshots.use(name)
        self.snapshots.sweep()
        return store

    def share(self, shared: TableVersions, name: str, *, again: bool) -> bool:
        """Give other lanes a copy of the version that is seen, under a name; whether there was one to give.

        It is given once, but for `again`, where nobody knows of it any more.
        """
        number = self.filling.sealed
        if not number or (number == self._shared and not again):
            return False
        shared.publish(LinkedCopy(self.snapshots.folder / self._name(number)), name)
        self._shared = number
        return True

    def close(self) -> None:
        """Let go of what is seen."""
        self.snapshots.close()
        if self._visible_store is not None:
            self._visible_store.close()
        self._visible_store = None

    @staticmethod
    def _name(number: int) -> str:
        return f"v{number}" if number else ""

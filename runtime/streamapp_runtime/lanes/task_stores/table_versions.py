"""The versions of a broadcast table: copies of its store that never change, of which one is read at a time.

They lie beside the store that the lane which fills the table has open. Lanes of other processes, or of other
pods that see the same folder, open the one that their order names: so all rows of a batch see the same.
"""

import shutil
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.stores.store_snapshot import CopyableStore, open_snapshot


@dataclass(slots=True)
class TableVersions:
    """The versions of one table, as one worker sees them."""

    folder: Path
    kind: StoreKind
    reads: bool = True  # whether this worker looks into them; else it only keeps them
    store: RecordedStore | None = None  # the version that is read
    _version: str = field(default="")

    def use(self, version: str) -> None:
        """Read this version from now on; none where it has no name."""
        if version != self._version:
            if self.store is not None:
                self.store.retire()
            reads = version and self.reads
            self.store = RecordedStore(open_snapshot(self.kind, self.folder / version)) if reads else None
            self._version = version

    def publish(self, source: CopyableStore, version: str) -> None:
        """Make a version of what a store holds. It is there as a whole, or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fresh = self.folder / f"new-{uuid4().hex}"
        source.copy_to(fresh)
        crash_point("adjunct.copied")
        fresh.rename(self.folder / version)

    def remove(self, version: str) -> None:
        """Take a version away that nobody reads."""
        shutil.rmtree(self.folder / version, ignore_errors=True)

    def sweep(self, kept_versions: Collection[str] = ()) -> None:
        """Remove all versions but these and the one that is used, and what was left half made."""
        for version_folder in self.folder.iterdir() if self.folder.is_dir() else ():
            if version_folder.name != self._version and version_folder.name not in kept_versions:
                shutil.rmtree(version_folder, ignore_errors=True)

    def close(self) -> None:
        """Let go of the version that is read."""
        if self.store is not None:
            self.store.close()
        self.store, self._version = None, ""

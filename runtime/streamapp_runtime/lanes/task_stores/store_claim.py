"""A store as a worker takes it: from an earlier one of the app if that still has it, emptied if damaged."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamapp_runtime.stores.directories.store_lock import end_holder
from streamapp_runtime.stores.recorded_store import RecordedStore
from streamapp_runtime.stores.store import Store, StoreBusyError, StoreDamagedError, StoreIdentity, StoreKind
from streamapp_runtime.stores.store_opening import LOCK_WAIT_SECONDS, discard_store, open_store

GRACE_SECONDS = 2.0
"""How long an earlier worker is given to go when it is asked."""


@dataclass(frozen=True, slots=True)
class StoreClaim:
    """The place of a store, and its owner."""

    directory: Path
    kind: StoreKind
    identity: StoreIdentity
    owner: str  # the application
    wait_seconds: float = LOCK_WAIT_SECONDS  # for a store that another process has

    def take(self, check: Callable[[], None]) -> RecordedStore:
        """The store. Who keeps it is ended, once `check` has not said that this worker's own time is over."""
        try:
            return self._trusted()
        except StoreBusyError:
            check()
            if not end_holder(self.directory, self.owner, GRACE_SECONDS):
                raise
            return self._trusted()

    def emptied(self, store: Store) -> RecordedStore:
        """The same store with nothing in it."""
        store.close()
        if self.kind is not StoreKind.MEMORY:
            discard_store(self.directory, owner=self.owner)
        return self._open()

    def _trusted(self) -> RecordedStore:
        try:
            return self._open()
        except StoreDamagedError:
            discard_store(self.directory, owner=self.owner)
            return self._open()

    def _open(self) -> RecordedStore:
        where, wait = self.directory, self.wait_seconds
        return RecordedStore(open_store(self.kind, where, self.identity, owner=self.owner, wait_seconds=wait))

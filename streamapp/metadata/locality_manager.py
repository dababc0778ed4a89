"""Locality and layout that one run of an app keeps for the next placement: where tasks and their stores were.

Everything stands under the run id, since state does not continue from one run to another: what another
run has left is not seen.
"""

from collections.abc import Mapping

from streamapp.durable_forms import LOCALITY
from streamapp.jobmodel.packed_columns import ColumnReader, ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.metadata.entries_codec import LocalityUnreadableError
from streamapp.metadata.metadata_store import MetadataStore
from streamapp.placement.locations.store_history import StoreHistory
from streamapp.protocol.store_history_codec import pack_store_history, unpack_store_history

_SEAL = SealedFrame(mark=b"SALO", form=LOCALITY, refusal=LocalityUnreadableError)


def pack_locality(locality: Mapping[str, str | None]) -> bytes:
    """Name -> location, where None is a location that nobody knows."""
    names = sorted(locality)
    locations = [locality[name] for name in names]
    columns = ColumnWriter()
    columns.names(names)
    columns.numbers([location is not None for location in locations])
    columns.choices([location or "" for location in locations])
    return _SEAL.close(columns.packed())


def unpack_locality(packed: bytes) -> dict[str, str | None]:
    """The locality that `pack_locality` was given, or a `LocalityUnreadableError`."""
    body = _SEAL.open(packed)
    try:
        columns = ColumnReader(body)
        rows = zip(columns.names(), columns.numbers(), columns.choices(), strict=True)
        locality = {name: location if is_known else None for name, is_known, location in rows}
        columns.end()
    except ValueError as error:
        raise _SEAL.damaged(str(error)) from error
    return locality


# The kind stands before the run id: a run id may hold any character, a kind has no slash.
_TASKS = b"task-locality/"
_PROCESSORS = b"processor-locality/"
_STORES = b"store-history/"
_LAYOUT = b"layout/"


class LocalityManager:
    """Reads and writes the locality and the last layout of one run.

    Each write replaces all that was known of its kind, and is skipped where it would change nothing; it says
    whether it wrote. Locations are plain texts, and None is one that nobody knows.
    """

    def __init__(self, store: MetadataStore, run_id: str) -> None:
        self._store = store
        self._run = run_id.encode()

    def read_task_locality(self) -> dict[str, str | None]:
        """Task -> location of its last processor; empty where this run has left none."""
        return self._read(_TASKS)

    def write_task_locality(self, locality: Mapping[str, str | None]) -> bool:
        """Remember where each task runs."""
        return self._write(_TASKS, locality)

    def read_processor_locality(self) -> dict[str, str | None]:
        """Processor -> location at which it last ran; empty where this run has left none."""
        return self._read(_PROCESSORS)

    def write_processor_locality(self, locality: Mapping[str, str | None]) -> bool:
        """Remember where each processor runs."""
        return self._write(_PROCESSORS, locality)

    def read_store_history(self) -> StoreHistory:
        """The places of tasks' stores; empty where this run has left nothing that can be read."""
        packed = self._store.get(_STORES + self._run)
        try:
            return StoreHistory() if packed is None else unpack_store_history(packed)
        except UnreadableError:
            return StoreHistory()

    def write_store_history(self, history: StoreHistory) -> bool:
        """Remember where stores of tasks lie, as far as it is written at all."""
        if self.read_store_history() == history.bounded():
            return False
        self._store.put(_STORES + self._run, pack_store_history(history))
        return True

    def read_layout(self) -> bytes | None:
        """The last layout, exactly the bytes that were written; None where this run has left none."""
        return self._store.get(_LAYOUT + self._run)

    def write_layout(self, layout: bytes) -> bool:
        """Remember the layout, whose bytes are its author's business."""
        if self.read_layout() == layout:
            return False
        self._store.put(_LAYOUT + self._run, layout)
        return True

    def forget_other_runs(self) -> int:
        """Remove what all other runs have left, and say how many entries that were."""
        kinds = (_TASKS, _PROCESSORS, _STORES, _LAYOUT)
        mine = {kind + self._run for kind in kinds}
        others = [key for key in self._store.all() if key.startswith(kinds) and key not in mine]
        for key in others:
            self._store.remove(key)
        return len(others)

    def _read(self, kind: bytes) -> dict[str, str | None]:
        packed = self._store.get(kind + self._run)
        return {} if packed is None else unpack_locality(packed)

    def _write(self, kind: bytes, locality: Mapping[str, str | None]) -> bool:
        try:
            packed = self._store.get(kind + self._run)
            if packed is not None and unpack_locality(packed) == locality:
                return False
        except LocalityUnreadableError:
            pass  # what cannot be read is written over: no placement depends on it
        self._store.put(kind + self._run, pack_locality(locality))
        return True

"""Metadata in one file of a directory, safe against a crash at any moment and against other writers.

The file is never changed. A writer holds the lock, writes a new file beside it, makes that durable, gives it
the name, and makes the name durable. So a reader needs no lock, and a crash leaves the old map or the new.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamapp.metadata.entries_codec import pack_entries, unpack_entries
from streamapp.metadata.file_calls import FileCalls, OperatingSystemCalls
from streamapp.metadata.whole_map_store import Entries, WholeMapStore

_CHUNK = 1 << 20


class FileMetadataStore(WholeMapStore):
    """A `MetadataStore` in a directory of its own, which is made when its parent is there.

    Processes and threads of one machine may share it. A crash may leave `metadata.new` behind; nobody reads
    it, and the next writer writes over it.
    """

    def __init__(self, directory: Path, system: FileCalls | None = None) -> None:
        self._directory = directory
        self._system = system or OperatingSystemCalls()
        self._file = directory / "metadata"
        self._new = directory / "metadata.new"
        self._lock = directory / "metadata.lock"

    def all(self) -> Entries:
        """Everything as it was at one moment; a `StoreUnreadableError` where the file is damaged."""
        try:
            with self._opened(self._file, os.O_RDONLY) as file:
                return unpack_entries(self._content(file))
        except FileNotFoundError:
            return {}

    def _change(self, change: Callable[[Entries], Entries]) -> None:
        with suppress(FileExistsError):
            self._system.mkdir(self._directory)
        with self._opened(self._lock, os.O_RDWR | os.O_CREAT) as lock:
            self._system.lock(lock)
            # Also written when nothing changes: what is there may not be durable, if its writer crashed.
            self._publish(pack_entries(change(self.all())))

    def _publish(self, content: bytes) -> None:
        try:
            with self._opened(self._new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
                self._write(file, content)
                self._system.fsync(file)
            self._system.replace(self._new, self._file)
        except OSError:
            with suppress(OSError):  # a full disk should not be filled by what could not be finished
                self._system.unlink(self._new)
            raise
        self._make_names_durable(self._directory)
        self._make_names_durable(self._directory.parent)

    def _make_names_durable(self, directory: Path) -> None:
        with self._opened(directory, os.O_RDONLY) as opened:
            self._system.fsync(opened)

    def _write(self, file: int, content: bytes) -> None:
        remaining_bytes = memoryview(content)
        while remaining_bytes:
            remaining_bytes = remaining_bytes[self._system.write(file, remaining_bytes) :]

    def _content(self, file: int) -> bytes:
        return b"".join(iter(lambda: self._system.read(file, _CHUNK), b""))

    @contextmanager
    def _opened(self, path: Path, flags: int) -> Iterator[int]:
        file = self._system.open(path, flags)
        try:
            yield file
        finally:
            self._system.close(file)

"""The LMDB environment of a folder: opened once per process, its errors translated into those of a system.

A map is mapped sparsely and far larger than what it will hold: pages come into being as they are written.
Without `sync` a commit leaves its pages with the operating system. Killing processes, this one included, then
loses nothing and tears nothing; a power failure may lose or damage the log.
"""

import ctypes
import errno
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import lmdb

from streamapp.durable_forms import VersionRefusal
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.runtime_durable_forms import EMBEDDED_LOG
from streamapp_runtime.systems.embedded.map_keys import FORMAT
from streamapp_runtime.systems.stream_system import FullError, UnavailableError

Txn: TypeAlias = "lmdb.Transaction[memoryview]"

DATA_FILE = "data.mdb"
RESTORE_HINT = "restore it from a copy, or remove the folder to begin with an empty log"
MAP_SIZE = 1 << 40
_READERS = 4096
_CUT_SHORT = os.strerror(errno.EIO)  # LMDB's word for a write of which only a part found room
_LITTLE_BYTES = 1 << 20
"""A disk with less room is full where a write was cut short."""


class LogUnreadableError(StateUnreadableError):
    """The content of the folder is no log, is damaged, or was written by a newer version."""


class Environment:
    """One folder's environment, shared by all that use it in this process and closed by the last of them."""

    def __init__(self, path: Path, sync: bool, map_size: int) -> None:
        self.path = path
        self.settings = (sync, map_size)
        self.users = 0
        self._pid = os.getpid()
        with _readable_errors(path):
            _make_where_missing(path, sync)
            self._lmdb = lmdb.open(
                str(path), map_size=map_size, sync=sync, metasync=sync, max_readers=_READERS, readahead=True
            )
        try:
            self._lmdb.reader_check()
            self._check_length()
            self._check_format()
        except BaseException:
            self._lmdb.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Txn]:
        """One moment's view of everything committed. What is read views the map: copy what shall stay."""
        with _readable_errors(self.path), self._begin(write=False) as txn:
            yield txn

    @contextmanager
    def writing(self) -> Iterator[Txn]:
        """The only writer on this host, until the block ends; an exception drops what was written."""
        with _readable_errors(self.path), self._begin(write=True) as txn:
            yield txn

    def forget_dead_readers(self) -> None:
        """Free what killed processes were reading, so that its pages can be used again."""
        self._lmdb.reader_check()

    def leave(self) -> None:
        """One user fewer."""
        with _lock:
            self.users -= 1
            if self.users == 0 and self._pid == os.getpid():
                _opened.pop(self.path, None)
                self._lmdb.close()

    def outlive_fork(self) -> None:
        """Never close the handle: a child that did would take its parent's readers out of the lock file."""
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._lmdb))

    def check_process(self) -> None:
        """Refuse to be used by a child of the process that opened it."""
        if self._pid != os.getpid():
            raise UnavailableError(
                f"the log {self.path} was opened by process {self._pid} before this one was forked from it, "
                "and cannot be used here; open the log only in the child, or start the child by spawning"
            )

    def _begin(self, write: bool) -> Txn:
        self.check_process()
        try:
            return self._lmdb.begin(None, None, write, True)
        except lmdb.MapResizedError:  # another process opened the log with a larger map and filled it
            self._lmdb.set_mapsize(0)
        except lmdb.ReadersFullError:
            self._lmdb.reader_check()
        return self._lmdb.begin(None, None, write, True)

    def _check_length(self) -> None:
        """LogUnreadableError where the file has been cut off: to read beyond its end would end the process.

        A file may lack pages at its end that LMDB allocated and never wrote. Whether any page is read that is
        not there is tried by a process of its own.
        """
        page = self._lmdb.stat()["psize"]
        needed = (self._lmdb.info()["last_pgno"] + 1) * page
        file = self.path / DATA_FILE
        size = file.stat().st_size
        if size >= needed or (size % page == 0 and _all_pages_are_there(self.path)):
            return
        what = f"{file} has been cut off: it has {size:,} bytes, and its pages take {needed:,}"
        raise LogUnreadableError(f"{what}; {RESTORE_HINT}")

    def _check_format(self) -> None:
        with self.reading() as txn:
            recorded = txn.get(FORMAT)
            version = None if recorded is None else bytes(recorded)
            is_empty = txn.stat()["entries"] == 0
        if version is None and not is_empty:
            raise LogUnreadableError(
                f"{self.path} holds an LMDB environment that is no log; name another folder"
            )
        if version is None:
            with self.writing() as txn:
                txn.put(FORMAT, b"%d" % EMBEDDED_LOG.version, overwrite=False)
        else:
            number = int(version) if version.isdigit() else version
            refusal = EMBEDDED_LOG.read_version(number, f"the log {self.path}")
            if isinstance(refusal, VersionRefusal):
                raise LogUnreadableError(str(refusal))


def _all_pages_are_there(path: Path) -> bool:
    command = [sys.executable, "-m", "streamapp_runtime.systems.embedded.page_check", str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own


def _make_where_missing(path: Path, sync: bool) -> None:
    """Make the log of a folder whole, under another name, so that a kill leaves no file of zero bytes.

    LogUnreadableError where there is such a file: LMDB would take it for a new environment.
    """
    file = path / DATA_FILE
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        with TemporaryDirectory(prefix="new-", dir=path) as scratch:
            lmdb.open(scratch, lock=False, sync=sync, metasync=sync).close()
            with suppress(FileExistsError):
                file.hardlink_to(Path(scratch, DATA_FILE))
    elif file.stat().st_size == 0:
        raise LogUnreadableError(f"{file} has zero bytes, which no log has; {RESTORE_HINT}")


_lock = threading.Lock()
_opened: dict[Path, Environment] = {}


def shared_environment(path: Path, sync: bool, map_size: int) -> Environment:
    """The process's one environment of a folder: LMDB must not open the same files twice in one process."""
    resolved = path.resolve()
    with _lock:
        environment = _opened.get(resolved)
        if environment is None:
            environment = _opened[resolved] = Environment(resolved, sync, map_size)
        environment.check_process()
        if environment.settings != (sync, map_size):
            raise ValueError(
                f"the log {path} is open in this process with other settings of sync or map size"
            )
        environment.users += 1
        return environment


def _free_bytes(path: Path) -> int:
    try:
        free = os.statvfs(path)
    except OSError:  # the disk itself is gone
        return _LITTLE_BYTES
    return free.f_bavail * free.f_frsize


def _in_child() -> None:
    for environment in _opened.values():
        environment.outlive_fork()
    _lock.release()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_in_child)


@contextmanager
def _readable_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except lmdb.MapFullError:
        raise FullError(
            f"the log {path} has no room left in its map; open it with a larger map size"
        ) from None
    except lmdb.DiskError as error:
        raise FullError(f"the disk that holds the log {path} is full") from error
    except (
        lmdb.InvalidError,
        lmdb.CorruptedError,
        lmdb.VersionMismatchError,
        lmdb.PageNotFoundError,
    ) as error:
        raise LogUnreadableError(f"{path} holds no log, or a damaged one: {error}; {RESTORE_HINT}") from error
    except lmdb.Error as error:
        if _CUT_SHORT in str(error) and _free_bytes(path) < _LITTLE_BYTES:
            raise FullError(f"the disk that holds the log {path} is full") from error
        raise UnavailableError(f"the log {path} cannot be used: {error}") from error
    except OSError as error:
        raise UnavailableError(f"the log {path} cannot be opened: {error}") from error

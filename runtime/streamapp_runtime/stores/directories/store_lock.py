"""The holder of a store: a lock that ends with its process, and a record of which process that is.

The kernel frees the lock when its holder dies, so a dead one is replaced without asking. A process id means
something only on one boot and in one pid namespace, and for one process; the record names all of these.
"""

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

from streamapp_runtime.stores.directories.file_lock import FileLock, is_locked
from streamapp_runtime.stores.store import StoreBusyError

_LOCK = "lock"
_RECORD = "holder"
_STEP_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class LockHolder:
    """A process that holds a store, or held it last."""

    owner: str  # the application
    pid: int
    started: str  # tells it from a later process of the same id
    boot: str
    namespace: str

    @classmethod
    def this_process(cls, owner: str) -> "LockHolder":
        """This process, as it would be recorded."""
        return cls(owner, os.getpid(), _process_start(os.getpid()) or "", boot_id(), _this_namespace())

    def lives_here(self) -> bool:
        """True if this is a live process that can be seen from here."""
        same_place = (self.boot, self.namespace) == (boot_id(), _this_namespace())
        return same_place and _process_start(self.pid) == self.started


class StoreLock:
    """A store's lock, held by this process."""

    def __init__(self, directory: Path, lock: FileLock) -> None:
        self._directory = directory
        self._lock = lock

    def release(self) -> None:
        """Let go."""
        (self._directory / _RECORD).unlink(missing_ok=True)
        self._lock.release()


def lock_store(directory: Path, owner: str, wait_seconds: float) -> StoreLock:
    """Lock a directory, which is made; StoreBusyError when another process keeps it that long."""
    while not (lock := _locked_file(directory, wait_seconds)).is_current():
        lock.release()  # who held it took the directory away: it locks nothing any more
    try:
        fresh = directory / f"{_RECORD}.new"
        fresh.write_text(json.dumps(asdict(LockHolder.this_process(owner))), "utf-8")
        fresh.replace(directory / _RECORD)
    except OSError:
        lock.release()
        raise
    return StoreLock(directory, lock)


def recorded_holder(directory: Path) -> LockHolder | None:
    """The process that holds the store or died with it; None when nobody did, or when that cannot be read."""
    try:
        return LockHolder(**json.loads((directory / _RECORD).read_text("utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def end_holder(directory: Path, owner: str, grace_seconds: float) -> bool:
    """End an earlier process of the same app that still holds the store; whether it is gone.

    It is asked first and killed after the grace. A process of another app, on another machine or in another
    pid namespace is left alone, and so is this one.
    """
    holder = recorded_holder(directory)
    if holder is None:
        return True
    if holder.owner != owner or holder.pid == os.getpid():
        return False
    for step in (signal.SIGTERM, signal.SIGKILL):
        if not holder.lives_here():
            break
        with suppress(ProcessLookupError):
            os.kill(holder.pid, step)
        _within(grace_seconds, lambda: not holder.lives_here())
    # Its first thread may be gone while others still keep the lock.
    return _within(grace_seconds, lambda: not is_locked(directory / _LOCK))


def boot_id() -> str:
    """The id that tells this run of the machine from its others."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _this_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _locked_file(directory: Path, wait_seconds: float) -> FileLock:
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the directory was taken away just then
            lock = FileLock(directory / _LOCK)
            break
    if not _within(wait_seconds, lock.acquire):
        lock.release()
        holder = recorded_holder(directory)
        raise StoreBusyError(str(directory), holder.pid if holder else None)
    return lock


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() >= deadline:
            return False
        sleep(_STEP_SECONDS)
    return True


def _process_start(pid: int) -> str | None:
    """The start of a process, in ticks since boot; None when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]

"""Who holds a store: a lock that ends with its process, and a record of which process that is.

The kernel frees the lock when its holder dies, so a dead one is replaced without asking. A process id means
something only on one boot and in one pid namespace, and for one process; the record names all of these.
"""

import fcntl
import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

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
        """What this process would be recorded as."""
        return cls(owner, os.getpid(), _process_start(os.getpid()) or "", boot_id(), _this_namespace())

    def lives_here(self) -> bool:
        """Whether this is a live process that can be seen from here."""
        same_place = (self.boot, self.namespace) == (boot_id(), _this_namespace())
        return same_place and _process_start(self.pid) == self.started


class StoreLock:
    """A store's lock, held by this process."""

    def __init__(self, directory: Path, lock: int) -> None:
        self._directory = directory
        self._lock = lock

    def release(self) -> None:
        """Let go."""
        (self._directory / _RECORD).unlink(missing_ok=True)
        os.close(self._lock)


def lock_store(directory: Path, owner: str, wait_seconds: float) -> StoreLock:
    """Lock a directory, which is made; StoreBusyError when another process keeps it that long."""
    while not _lies_in(lock := _locked_file(directory, wait_seconds), directory):
        os.close(lock)  # who held it took the directory away: it locks nothing any more
    try:
        fresh = directory / f"{_RECORD}.new"
        fresh.write_text(json.dumps(asdict(LockHolder.this_process(owner))), "utf-8")
        fresh.replace(directory / _RECORD)
    except OSError:
        os.close(lock)
        raise
    return StoreLock(directory, lock)


def recorded_holder(directory: Path) -> LockHolder | None:
    """Who holds the store or died holding it; None when nobody did, or when that cannot be read."""
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
    return _within(grace_seconds, lambda: not _is_locked(directory))


def boot_id() -> str:
    """What tells this run of the machine from its others."""
    return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()


def _this_namespace() -> str:
    return str(Path("/proc/self/ns/pid").readlink())


def _locked_file(directory: Path, wait_seconds: float) -> int:
    while True:
        directory.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # the directory was taken away just then
            lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            break
    if not _within(wait_seconds, lambda: _try_lock(lock)):
        os.close(lock)
        holder = recorded_holder(directory)
        raise StoreBusyError(str(directory), holder.pid if holder else None)
    return lock


def _lies_in(lock: int, directory: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(lock), (directory / _LOCK).stat())
    return False


def _is_locked(directory: Path) -> bool:
    with suppress(FileNotFoundError):
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        try:
            return not _try_lock(lock)
        finally:
            os.close(lock)
    return False


def _try_lock(lock: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() >= deadline:
            return False
        sleep(_STEP_SECONDS)
    return True


def _process_start(pid: int) -> str | None:
    """When a process started, in ticks since boot; None when it is gone or only waits to be reaped."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else fields[19]

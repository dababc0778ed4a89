"""A lock on a file, which the kernel frees when the process that holds it ends."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_RDWR | os.O_CLOEXEC


class FileLock:
    """An open file of this process, whether it holds the lock or not yet."""

    def __init__(self, path: Path) -> None:
        """Open a file of that name, which is made; its folder has to be there."""
        self._path = path
        self._file = os.open(path, _FLAGS | os.O_CREAT, 0o644)

    def acquire(self) -> bool:
        """Take the lock, unless another process holds it; whether this one does now."""
        return _acquire(self._file)

    def wait(self) -> None:
        """Take the lock, as soon as no other process holds it."""
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def is_current(self) -> bool:
        """True if the name still stands for this file: once it is taken away, the lock guards nothing."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._file), self._path.stat())
        return False

    def release(self) -> None:
        """Close the file, and let go of the lock with it."""
        os.close(self._file)


def is_locked(path: Path) -> bool:
    """True if any process holds the lock on a file, which need not be there."""
    with suppress(FileNotFoundError):
        file = os.open(path, _FLAGS)
        try:
            return not _acquire(file)
        finally:
            os.close(file)
    return False


def _acquire(file: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False

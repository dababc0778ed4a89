"""The few system calls that a file store rests on, so that a test can stop the world between any two."""

import fcntl
import os
from pathlib import Path
from typing import Protocol


class FileCalls(Protocol):
    """Files as the operating system offers them; each method is one call and fails with an OSError."""

    def mkdir(self, path: Path) -> None:
        """Make one directory."""
        ...

    def open(self, path: Path, flags: int) -> int:
        """Open a file or a directory; the number stands for it from here on."""
        ...

    def lock(self, file: int) -> None:
        """Wait until no other holds the lock of this file, and take it until the file is closed."""
        ...

    def read(self, file: int, length: int) -> bytes:
        """The next bytes, at most so many; none at the end."""
        ...

    def write(self, file: int, content: memoryview) -> int:
        """Write some of these bytes and say how many."""
        ...

    def fsync(self, file: int) -> None:
        """Come back when the file, or the names in the directory, would survive a loss of power."""
        ...

    def replace(self, source: Path, target: Path) -> None:
        """Give a file another name; whoever opens that name finds the old file or the new one."""
        ...

    def unlink(self, path: Path) -> None:
        """Take a name away."""
        ...

    def close(self, file: int) -> None:
        """End the use of an open file, and its lock."""
        ...


class OperatingSystemCalls:
    """The real one."""

    def mkdir(self, path: Path) -> None:
        """Make one directory."""
        path.mkdir()

    def open(self, path: Path, flags: int) -> int:
        """Open a file or a directory."""
        return os.open(path, flags, 0o644)

    def lock(self, file: int) -> None:
        """Wait for the lock and take it."""
        fcntl.flock(file, fcntl.LOCK_EX)

    def read(self, file: int, length: int) -> bytes:
        """The next bytes."""
        return os.read(file, length)

    def write(self, file: int, content: memoryview) -> int:
        """Write some of these bytes."""
        return os.write(file, content)

    def fsync(self, file: int) -> None:
        """Make it durable."""
        os.fsync(file)

    def replace(self, source: Path, target: Path) -> None:
        """Rename over what is there."""
        source.replace(target)

    def unlink(self, path: Path) -> None:
        """Take a name away."""
        path.unlink()

    def close(self, file: int) -> None:
        """End the use."""
        os.close(file)

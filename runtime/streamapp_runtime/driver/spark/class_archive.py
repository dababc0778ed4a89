"""Archives of classes for Spark's JVMs: classes that were loaded and checked once are mapped from a file.

A JVM that finds no archive writes down the names of the classes that it loads. When its run has ended, a
process of low priority makes the archive from those names (`class_archive_making.py`). An archive belongs to
one Java, to the jars of one Spark and to one role; the JVM looks whether it fits, and goes without it if not.
"""

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark.java_command import ARCHIVE_MODULES

OFF: Final = "STREAMAPP_NO_CLASS_ARCHIVE"
FOLDER: Final = "STREAMAPP_CLASS_ARCHIVE_FOLDER"
_LAYOUT: Final = "1"
"""Raised when archives of an earlier StreamApp shall no longer serve."""
_MAKING: Final = "streamapp_runtime.driver.spark.class_archive_making"
_QUIET: Final = "-Xlog:disable", "-Xlog:all=error,cds=off:stderr", "-Xshare:auto"
"""A JVM that cannot use an archive says so in warnings, and continues."""
_SHARED_PLACE: Final = "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"
"""An archive at the address that it was made for is mapped as it is, so that JVMs of one machine share it.
Elsewhere each JVM rewrites the pointers in it, and has nearly all of it for itself."""
FREE_BYTES: Final = 2 << 30
"""So much of the disk has to be free for an archive to be made."""


class JvmRole(StrEnum):
    """The role of a JVM, which decides which classes it loads."""

    LOCAL = "local"  # a driver whose lanes run in its own process
    DRIVER = "driver"  # a driver with executors
    EXECUTOR = "executor"
    KIT = "kit"  # for expressions alone

    @classmethod
    def of_driver(cls, master: str) -> "JvmRole":
        """The role of a driver with this `spark.master`."""
        return cls.LOCAL if master.startswith("local[") else cls.DRIVER

    @property
    def last_class(self) -> str:
        """The class loaded when a first batch ends: a list without it is of a start that came to nothing."""
        return _LAST_CLASSES[self]


_LAST_CLASSES: Final = {
    JvmRole.LOCAL: "org/apache/spark/scheduler/JobSucceeded$",
    JvmRole.DRIVER: "org/apache/spark/scheduler/JobSucceeded$",
    JvmRole.EXECUTOR: "org/apache/spark/scheduler/DirectTaskResult",
    JvmRole.KIT: "org/apache/spark/sql/execution/arrow/ArrowWriter",
}


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive for one role of JVMs, which may not have been made yet."""

    folder: Path
    role: JvmRole
    digest: str

    @classmethod
    def of(cls, role: JvmRole, java: str, jars: Sequence[str]) -> "ClassArchive | None":
        """The archive for this Java and these jars; None where there shall be none."""
        folder = archive_folder()
        if folder is None or not jars:
            return None
        try:
            facts = [_LAYOUT, role.value, *ARCHIVE_MODULES, *_identity(java), *map(_identity, jars)]
        except OSError:
            return None
        digest = hashlib.sha256(repr(facts).encode()).hexdigest()[:24]
        return cls(folder, role, digest)

    @property
    def name(self) -> str:
        """The prefix of the names of all its files."""
        return f"{self.role.value}-{self.digest}"

    @property
    def file(self) -> Path:
        """The archive itself."""
        return self.folder / f"{self.name}.jsa"

    @property
    def size_file(self) -> Path:
        """The file with the bytes that the archive was made with: one cut short is never mapped."""
        return self.folder / f"{self.name}.size"

    @property
    def failure_file(self) -> Path:
        """There where the archive could not be made: nobody tries again."""
        return self.folder / f"{self.name}.failed"

    @property
    def is_whole(self) -> bool:
        """True if the archive is there as it was made."""
        try:
            return self.file.stat().st_size == int(self.size_file.read_text())
        except (OSError, ValueError):
            return False

    @property
    def failure_text(self) -> str:
        """The last words of the JVM that could not make the archive; empty where none has failed."""
        try:
            return self.failure_file.read_text(errors="replace")
        except OSError:
            return ""

    def class_lists(self) -> list[Path]:
        """The class lists that JVMs without the archive have written."""
        return sorted(self.folder.glob(f"{self.name}.*.classes"))

    def options(self) -> tuple[str, ...]:
        """The options of a JVM: to use the archive, or to write down what it is to hold."""
        if self.is_whole:
            with suppress(OSError):
                os.utime(self.file)  # one that is in use is not tidied away
            return (f"-XX:SharedArchiveFile={self.file}", *_SHARED_PLACE, *_QUIET)
        if not self._can_be_made():
            return ()
        return (f"-XX:DumpLoadedClassList={self.folder / self.name}.%p.classes", *_QUIET)

    def discard(self) -> None:
        """Take the archive away: a JVM could not start with it."""
        with suppress(OSError):
            self.size_file.unlink(missing_ok=True)
            self.file.unlink(missing_ok=True)

    def make_later(self, java: str, jars: Sequence[str], jvm: int) -> None:
        """Have a process of low priority make the archive once this JVM has ended; nothing is waited for."""
        class_lists = self.class_lists()
        if self.is_whole:  # another run was first
            for class_list in class_lists:
                class_list.unlink(missing_ok=True)
        elif class_lists:
            command = [
                sys.executable,
                "-m",
                _MAKING,
                str(self.folder),
                self.role.value,
                self.digest,
                str(jvm),
                java,
                *jars,
            ]
            with suppress(OSError):
                subprocess.Popen(  # noqa: S603 - our own
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                )

    def _can_be_made(self) -> bool:
        if self.failure_file.exists():
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            space = os.statvfs(self.folder)
        except OSError:
            return False
        return os.access(self.folder, os.W_OK) and space.f_bavail * space.f_frsize > FREE_BYTES


def archive_folder() -> Path | None:
    """The folder of the archives; None where they are turned off, or where there is no place for them."""
    if os.environ.get(OFF):
        return None
    if folder := os.environ.get(FOLDER):
        return Path(folder)
    cache = cache_folder()
    return None if cache is None else cache / "classes"


def cache_folder() -> Path | None:
    """The folder of what is made once for a user; None for one without a home."""
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "streamapp")
    except RuntimeError:
        return None


def joined(options: Sequence[str]) -> str:
    """Options as a setting of Spark has them."""
    return " ".join(map(shlex.quote, options))


def _identity(path: str) -> tuple[str, int, int]:
    real = Path(path).resolve()
    facts = real.stat()
    return str(real), facts.st_size, facts.st_mtime_ns

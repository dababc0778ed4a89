"""Makes an archive of classes, in a process of low priority that nobody waits for.

    python -m streamapp_runtime.driver.spark.class_archive_making FOLDER ROLE DIGEST PID JAVA JAR...

An app without expressions for Spark loads nothing of SQL: those classes are recorded before, by a process
of its own. Without them no archive is made, and the next run tries again. One archive is made at a time. It
gets another name, is tried, and only then put in its place.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from streamapp_runtime.driver.spark.class_archive import ClassArchive, JvmRole
from streamapp_runtime.driver.spark.java_command import ARCHIVE_MODULES
from streamapp_runtime.stores.directories.file_lock import FileLock

_RECORDING: Final = "streamapp_runtime.driver.spark.sql_class_recording"
_SQL_CLASS: Final = "org/apache/spark/sql/catalyst/analysis/Analyzer"
"""Loaded wherever expressions are read or evaluated."""
UNUSED_SECONDS: Final = 30 * 24 * 3600
"""An archive that no JVM took for so long goes: its Spark or its Java may be gone."""
MOST_ARCHIVES: Final = 8
"""An archive takes 100 to 200 MB, and each virtual environment has its own, as has each set of jars."""
LAST_WORDS: Final = 20_000
LONGEST_SECONDS: Final = 1800
"""For an archive to be made, at the lowest priority of a busy machine."""


def main(arguments: Sequence[str]) -> None:
    """Wait for the JVM's end, and make what it has written down classes for."""
    folder, role, digest, jvm, java, *jars = arguments
    os.nice(19)
    _wait_for_end(int(jvm))
    archive = ClassArchive(Path(folder), JvmRole(role), digest)
    make(archive, java, jars, lambda: _record_sql(archive))


def make(
    archive: ClassArchive, java: str, jars: Sequence[str], record: Callable[[], bool] = lambda: True
) -> None:
    """Make the archive, unless it is there, or another process is about to.

    `record` adds to the lists before; there is no archive where it is false.
    """
    own, turn = FileLock(archive.folder / f"{archive.name}.lock"), FileLock(archive.folder / "lock")
    try:
        if own.acquire():
            turn.wait()
            _make_once(archive, java, jars, record)
    finally:
        turn.release()
        own.release()


def _make_once(archive: ClassArchive, java: str, jars: Sequence[str], record: Callable[[], bool]) -> None:
    class_lists = archive.class_lists()
    last_class = archive.role.last_class
    if not archive.is_whole and any(last_class in loaded_classes(file) for file in class_lists) and record():
        _make(archive, archive.class_lists(), java, jars)
    for class_list in archive.class_lists():
        class_list.unlink(missing_ok=True)
    _tidy(archive.folder)


def _record_sql(archive: ClassArchive) -> bool:
    """Have a JVM of the archive's role, and its executors, write down what expressions load.

    False where that failed.
    """
    command = [sys.executable, "-m", _RECORDING, archive.role.value]
    with suppress(OSError, subprocess.TimeoutExpired):
        recording = subprocess.run(  # noqa: S603 - our own
            command, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_SECONDS
        )
        return recording.returncode == 0 and any(
            _SQL_CLASS in loaded_classes(file) for file in archive.class_lists()
        )
    return False


def loaded_classes(class_list: Path) -> list[str]:
    """The lines of a list without numbers, by which lists of several runs contradict each other.

    Java 17 writes numbers for classes of other loaders alone, later versions for all. Classes of other
    loaders, which Spark generates, have a source, and are left out.
    """
    lines = class_list.read_text(errors="replace").splitlines()
    return [line.partition(" id: ")[0] for line in lines if " source: " not in line]


def _make(archive: ClassArchive, class_lists: Sequence[Path], java: str, jars: Sequence[str]) -> None:
    made = archive.file.with_suffix(".new")
    names = archive.file.with_suffix(".names")
    lines = (line for file in class_lists for line in loaded_classes(file))
    names.write_text("".join(f"{line}\n" for line in dict.fromkeys(lines)))
    shared = [*ARCHIVE_MODULES, "-cp", os.pathsep.join(jars), f"-XX:SharedArchiveFile={made}"]
    # Only this collector leaves objects in an archive; every collector can take them.
    dump = ["-Xshare:dump", "-XX:+UseG1GC", f"-XX:SharedClassListFile={names}"]
    try:
        for options in (dump, ["-Xshare:on", "-version"]):  # of two of the same kind the last counts
            command = [java, *shared, *options]
            subprocess.run(  # noqa: S603 - our own
                command, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_SECONDS
            )
        archive.size_file.unlink(missing_ok=True)
        made.chmod(0o600)
        size = made.stat().st_size
        made.replace(archive.file)
        archive.size_file.write_text(str(size))
    except subprocess.CalledProcessError as error:
        if error.returncode > 0:  # else somebody has ended it
            archive.failure_file.write_bytes(error.stdout[-LAST_WORDS:] + error.stderr[-LAST_WORDS:])
    except (OSError, subprocess.TimeoutExpired):
        pass  # the disk or the machine: another run tries again
    finally:
        made.unlink(missing_ok=True)
        names.unlink(missing_ok=True)


def _tidy(folder: Path) -> None:
    """Take away what nobody uses any more. A JVM that has an archive open keeps it."""
    archives = sorted(folder.glob("*.jsa"), key=_last_use, reverse=True)
    for surplus in archives[MOST_ARCHIVES:]:
        surplus.unlink(missing_ok=True)
    oldest = time.time() - UNUSED_SECONDS
    for file in folder.iterdir():
        archive = file.with_suffix(".jsa")
        last_use = _last_use(archive if archive.exists() else file)
        if not file.name.endswith("lock") and last_use < oldest:
            file.unlink(missing_ok=True)


def _last_use(file: Path) -> float:
    """The time at which a file was last taken; one that another process has just removed is the oldest."""
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0


def _wait_for_end(process: int) -> None:
    """Until then the JVM may still write down classes. It is no child of this process."""
    with suppress(OSError):
        while True:
            os.kill(process, 0)
            time.sleep(0.5)


if __name__ == "__main__":
    main(sys.argv[1:])

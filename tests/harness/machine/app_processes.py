"""The processes of a besieged app by what they are: all have inherited the same folder of crash points."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from streamapp_runtime.crash_points import VARIABLE

KINDS = ("driver", "jvm", "executor", "daemon", "worker")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    command: str


def victims(points: Path) -> dict[str, list[int]]:
    """The ids of the processes of each kind, in order."""
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    processes = {process.pid: process for process in _of(points)}
    for pid, process in sorted(processes.items()):
        found[_kind(process, processes)].append(pid)
    return found


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def of_executor(points: Path) -> list[int]:
    """The first executor of the app, its daemon and its workers."""
    return with_children(points, victims(points)["executor"][0])


def with_children(points: Path, pid: int) -> list[int]:
    """A process of the app, and those that it and its children have started."""
    processes = sorted((process.pid, process.parent) for process in _of(points))
    tree = [pid]
    for one in tree:
        tree += [child for child, parent in processes if parent == one]
    return tree


@contextmanager
def standing_still(pids: Iterable[int]) -> Iterator[None]:
    """Processes that are stopped while this lasts, and go on in the middle of what they did."""
    stopped = [*pids]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in stopped:
            with suppress(ProcessLookupError):  # somebody has ended it
                os.kill(pid, signal.SIGCONT)


def _kind(process: Process, processes: dict[int, Process]) -> str:
    if "CoarseGrainedExecutorBackend" in process.command:
        return "executor"
    if "pyspark.daemon" in process.command:
        parent = processes.get(process.parent)
        return "worker" if parent and "pyspark.daemon" in parent.command else "daemon"
    return "driver" if "streamapp run" in process.command else "jvm"


def _of(points: Path) -> Iterator[Process]:
    mark = f"{VARIABLE}={points}\0".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):
            stat = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            if stat[0] != "Z" and mark in (folder / "environ").read_bytes():
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield Process(int(folder.name), int(stat[1]), command)

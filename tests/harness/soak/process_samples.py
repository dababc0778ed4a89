"""What processes hold: memory, threads and open files, as the kernel counts."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MEBIBYTE: Final = 2**20


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One process at one moment."""

    resident: float  # MiB
    proportional: float  # MiB; pages that processes share count in part
    threads: float
    files: float


def process_samples(pids: dict[str, list[int]]) -> Iterator[tuple[str, int, ProcessSample]]:
    """By kind and id, those of these that are there."""
    for kind, of_kind in pids.items():
        for pid in of_kind:
            with suppress(OSError, KeyError):
                yield kind, pid, process_sample(pid)


def process_sample(pid: int) -> ProcessSample:
    """One process; an OSError where it is gone."""
    folder = Path("/proc", str(pid))
    memory = _fields(folder / "smaps_rollup")
    threads = _fields(folder / "status")["Threads"]
    files = sum(1 for _ in (folder / "fd").iterdir())
    return ProcessSample(memory["Rss"] / 1_024, memory["Pss"] / 1_024, threads, files)


def _fields(file: Path) -> dict[str, int]:
    """The numbers of lines such as `Rss: 1234 kB`."""
    fields = {}
    for line in file.read_text("ascii", "replace").splitlines():
        name, _, value = line.partition(":")
        number = value.split()[:1]
        if number and number[0].isdigit():
            fields[name] = int(number[0])
    return fields

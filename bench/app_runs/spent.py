"""CPU seconds of a process with everything that it has started: Spark's JVM and all Python workers."""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
WORKER = b"pyspark.daemon"


def cpu_seconds(root: int | None = None) -> Mapping[str, float]:
    """What the tree of a process has used so far, by kind of process, those of it that have ended included.

    Of this process, unless another is named.
    """
    children: defaultdict[int, list[int]] = defaultdict(list)
    ticks: dict[int, int] = {}
    kinds: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                _, _, rest = (entry / "stat").read_text().partition(" (")
                name, _, numbers = rest.rpartition(") ")
                fields = numbers.split()
                kinds[int(entry.name)] = _kind(name, (entry / "cmdline").read_bytes())
            except OSError:  # it has just ended; its parent has its ticks now
                continue
            children[int(fields[1])].append(int(entry.name))
            ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    found: Counter[str] = Counter()
    waiting = [os.getpid() if root is None else root]
    while waiting:
        process = waiting.pop()
        if process in ticks:
            found[kinds[process]] += ticks[process]
        waiting += children[process]
    return {kind: spent / TICKS for kind, spent in found.items()}


def _kind(name: str, command: bytes) -> str:
    """The kind of a process."""
    if name == "java":
        return "JVM"
    return "worker" if WORKER in command.split(b"\0") else "driver"

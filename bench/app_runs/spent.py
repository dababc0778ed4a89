"""CPU seconds of a process with everything that it has started: Spark's JVM and all Python workers."""

import os
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
LAYER = b"STREAMAPP_LAYER="
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
                command, environment = (entry / "cmdline").read_bytes(), (entry / "environ").read_bytes()
                kinds[int(entry.name)] = _kind(name, command, environment)
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


def _kind(name: str, command: bytes, environment: bytes) -> str:
    """What a process is; where one layer does everything its workers are of no layer that they know of."""
    if name == "java":
        return "JVM"
    layers = [entry for entry in environment.split(b"\0") if entry.startswith(LAYER)]
    if layers:
        return f"worker of layer {layers[0][len(LAYER) :].decode()}"
    return "worker" if WORKER in command.split(b"\0") else "driver"

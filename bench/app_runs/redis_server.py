"""A Redis of one's own, that keeps nothing on disk, and what it costs."""

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.app_runs.spent import TICKS

MISSING = "" if shutil.which("redis-server") else "left out, there is no redis-server here"
"""Why there can be none."""


@contextmanager
def redis_server() -> Iterator[tuple[int, int]]:
    """Its port on this machine, and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - a server of our own
        try:
            if not any("Ready to accept" in line for line in process.stdout or ()):
                raise RuntimeError("the server ended before it was ready")
            yield port, process.pid
        finally:
            process.terminate()


def cpu_of(process: int) -> float:
    """CPU seconds that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS

"""Processes that tests start, and waiting for what they do."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Child:
    """A process that ends with its block; what it says goes to a file."""

    def __init__(
        self, command: Sequence[str | Path], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def code(self) -> int | None:
        """What it ended with, if it has."""
        return self._process.poll()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def wait(self, limit: float) -> int:
        """What it ends with."""
        return self._process.wait(limit)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="utf-8").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], object], limit: float, child: Child | None = None) -> None:
    """Wait for a condition; fail after so many seconds, or when the process it waits for has ended."""
    end = time.monotonic() + limit
    while not condition():
        if child is not None and child.code is not None:
            raise AssertionError(f"ended with {child.code}: {child.said()[-4000:]}")
        if time.monotonic() > end:
            said = f": {child.said()[-4000:]}" if child else ""
            raise AssertionError(f"not so after {limit} s{said}")
        time.sleep(0.05)


def get(url: str) -> tuple[int, str]:
    """What a server on this machine answers."""
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    with closing(connection):
        connection.request("GET", parts.path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()


def parent_of(process: int) -> int:
    """The process that has started another one."""
    return int(Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[1])


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text("ascii").split()
    ]


def java_children(pid: int) -> list[int]:
    """The JVMs that a process has started."""
    return [child for child in children(pid) if Path(f"/proc/{child}/comm").read_text().strip() == "java"]

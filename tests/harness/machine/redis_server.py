"""A real redis-server on a socket of its own, that can be ended, held up and started again."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.harness.machine.left_out import leave_out

PROGRAM = "redis-server"


@dataclass(slots=True)
class Server:
    """The server, and where it is found."""

    folder: Path
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder / 'socket'}"

    def start(self) -> None:
        command = [PROGRAM, "--port", "0", "--unixsocket", str(self.folder / "socket"), "--dir", self.folder]
        # What it was told is there again when it is started: written before it answers, and synced by nobody,
        # since it puts off writing while a sync is under way.
        options = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert any("ready to accept" in line.lower() for line in self.process.stdout)

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """It takes connections meanwhile, and answers nothing."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


@contextmanager
def running_redis() -> Iterator[Server]:
    """A server that is ready; the test is left out where the program is missing, and fails in CI."""
    if shutil.which(PROGRAM) is None:
        leave_out(f"there is no {PROGRAM} here (Debian: apt-get install {PROGRAM})")
    with TemporaryDirectory() as folder:  # a socket's path has to be short
        server = Server(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.end()


@pytest.fixture(scope="module")
def redis_server() -> Iterator[Server]:
    """One server for all tests of a module."""
    with running_redis() as started:
        yield started

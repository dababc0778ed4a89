"""A real PostgreSQL on a port of its own, that can be ended, held up and started again."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import pytest

from tests.harness.machine.left_out import leave_out

USER = "app"
_NUMBERS = count()
_DEBIAN = Path("/usr/lib/postgresql")
_SETTINGS = (
    "fsync=off",
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=50",
    "wal_level=logical",
)


def _programs() -> Path | None:
    """The folder of the server's programs: Debian keeps them beside its commands, one for each version."""
    if found := shutil.which("postgres"):
        return Path(found).parent
    return max(_DEBIAN.glob("*/bin"), default=None)


@dataclass(slots=True)
class PostgresServer:
    """The server, and where it is found."""

    folder: Path
    programs: Path
    port: int = field(init=False)
    process: subprocess.Popen[str] | None = None

    def __post_init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def initialise(self) -> None:
        command = [str(self.programs / "initdb"), "-D", str(self.folder / "data"), "-U", USER, "-A", "trust"]
        subprocess.run([*self._as_user(), *command, "--no-sync"], check=True, stdout=subprocess.PIPE, cwd="/")

    def start(self) -> None:
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        command = [str(self.programs / "postgres"), "-D", str(self.folder / "data"), "-p", str(self.port)]
        self.process = subprocess.Popen(
            [*self._as_user(), *command, *options], stderr=subprocess.PIPE, text=True, cwd="/"
        )
        assert self.process.stderr is not None
        assert any("ready to accept" in line for line in self.process.stderr)

    def end(self) -> None:
        """As when its machine fails: nothing is put in order."""
        if self.process is not None:
            self._signal(signal.SIGQUIT)
            self.process.communicate()
            self.process = None

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """It and its sessions take what is sent meanwhile, and answer nothing."""
        self._signal(signal.SIGSTOP, every=True)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT, every=True)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        text = f"host=127.0.0.1 port={self.port} user={USER} dbname={database}"
        with adbc.connect(text, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall()) if cursor.description else []

    def _signal(self, number: signal.Signals, *, every: bool = False) -> None:
        pid = int((self.folder / "data" / "postmaster.pid").read_text().splitlines()[0])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if every else []
        for one in (pid, *map(int, children)):
            with suppress(ProcessLookupError):  # a session that ends meanwhile
                os.kill(one, number)

    def _as_user(self) -> list[str]:
        """It refuses to run as root."""
        return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] * (
            os.getuid() == 0
        )


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """A database of its own on a server."""

    server: PostgresServer
    name: str = field(default_factory=lambda: f"test{next(_NUMBERS)}")

    def __post_init__(self) -> None:
        self.server.execute(f"CREATE DATABASE {self.name}")

    @property
    def settings(self) -> dict[str, Any]:
        """The fields of a system of an app by which it is reached."""
        return {"servers": self.server.address, "database": self.name, "config": {"user": USER}}

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        return self.server.execute(statement, self.name)


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """A server that is ready; the test is left out where the program is missing, and fails in CI."""
    programs = _programs()
    if programs is None:
        leave_out("there is no PostgreSQL here (Debian: apt-get install postgresql)")
    with TemporaryDirectory() as folder:
        if os.getuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        server = PostgresServer(Path(folder), programs)
        server.initialise()
        server.start()
        try:
            yield server
        finally:
            server.end()


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a module."""
    with running_postgres() as started:
        yield started

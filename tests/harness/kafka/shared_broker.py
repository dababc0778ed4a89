"""One broker for all processes of a test run: the first that needs it starts it, it ends after the last.

Each process holds a named pipe open for writing, and a shell that reads the pipe stops the broker when
no writer is left. So a run that is killed leaves no broker behind either.
"""

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.harness.kafka.broker import Broker

# Nobody writes: `read` ends when the last writer is gone.
_KEEPER = '"$@" & broker=$!; read -r _ < "$PIPE"; kill "$broker"; wait "$broker"'


@contextmanager
def shared_broker(folder: Path) -> Iterator[str]:
    """The address of this folder's broker, which runs as long as any process is within."""
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "broker.json"
    # Whoever is within holds this lock with the others; the last one can have it alone.
    within = os.open(folder / "within", os.O_RDWR | os.O_CREAT)
    with _alone(folder):
        address, pipe = _join(state) or _start(folder, state)
        fcntl.flock(within, fcntl.LOCK_SH)
    try:
        yield address
    finally:
        with _alone(folder):
            with suppress(BlockingIOError):
                fcntl.flock(within, fcntl.LOCK_EX | fcntl.LOCK_NB)
                state.unlink()
            os.close(pipe)
            os.close(within)


def _join(state: Path) -> tuple[str, int] | None:
    """Another process's broker, if one runs."""
    try:
        address, pipe = json.loads(state.read_text(encoding="utf-8"))
        return address, os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # none was started, or nobody reads the pipe of one that was
        return None


def _start(folder: Path, state: Path) -> tuple[str, int]:
    home = Path(tempfile.mkdtemp(dir=folder))
    broker = Broker(home)
    command = broker.command()
    pipe = home / "pipe"
    os.mkfifo(pipe)
    held = os.open(pipe, os.O_RDWR)  # for writing alone it would wait for the reader
    appends = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    keeper = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", _KEEPER, "keeper", *command],
        {**os.environ, "PIPE": str(pipe)},
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(broker.log), appends, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    broker.await_answer(lambda: os.waitpid(keeper, os.WNOHANG)[0] or None)
    state.write_text(json.dumps([broker.bootstrap, str(pipe)]), encoding="utf-8")
    return broker.bootstrap, held


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""A key read from a task's own store, beside one read from a Redis over TCP here: CPU microseconds.

Of the server both sides are counted: its own process and a client that does nothing but write and read the
protocol. The store is asked as the engine asks it, 100,000 keys at a time; the server for one key after the
other, as an app does that looks up each row, and as well for 1,000 keys at a time.
"""

import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import numpy as np
import pyarrow as pa

from bench.app_runs.redis_server import MISSING, cpu_of, redis_server
from bench.row import Aim, Compared, Row
from streamapp_runtime.stores.store import StoreIdentity, StoreKind
from streamapp_runtime.stores.store_opening import open_store

KEYS = 100_000
BATCH = 100_000
BATCHES = 20
ONE_BY_ONE = 50_000
TOGETHER = 1_000
VALUE = b'{"country":"C123","tier":4}'
NAMES = [b"user-%07d" % n for n in range(KEYS)]


def rows() -> Iterator[Row]:
    """Each store, then the server, where there is one."""
    local = {kind: _of_store(kind) for kind in StoreKind}
    for kind, spent in local.items():
        yield Row(f"{kind}", spent, "us/key")
    if MISSING:
        yield Row(f"Redis: {MISSING}", float("nan"), "")
        return
    with redis_server() as (port, process), connected(port) as connection:
        _asked(connection, [_command(b"MSET", *(part for name in NAMES for part in (name, VALUE)))])
        chosen = np.random.default_rng(7).integers(0, KEYS, ONE_BY_ONE)
        single = [_command(b"GET", NAMES[n]) for n in chosen]
        some = [_command(b"MGET", *(NAMES[n] for n in part)) for part in chosen.reshape(-1, TOGETHER)]
        one = _spent(connection, process, single) / ONE_BY_ONE
        many = _spent(connection, process, some) / ONE_BY_ONE
    lmdb = Compared(str(StoreKind.LMDB), local[StoreKind.LMDB])
    yield Row("Redis, one key at a time", one * 1e6, "us/key", compared=lmdb)
    yield Row(f"  of {StoreKind.LMDB}", one * 1e6 / local[StoreKind.LMDB], "x", Aim(least=100))
    yield Row(f"Redis, {TOGETHER:,} keys at a time", many * 1e6, "us/key", compared=lmdb)
    yield Row(f"  of {StoreKind.LMDB}", many * 1e6 / local[StoreKind.LMDB], "x")


def _of_store(kind: StoreKind) -> float:
    random = np.random.default_rng(7)
    names = pa.array(NAMES, pa.binary())
    asked = [names.take(pa.array(random.integers(0, KEYS, BATCH))) for _ in range(BATCHES)]
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(
            kind, Path(folder) / "users", StoreIdentity("run", "task", "users", ""), owner="bench"
        )
        store.load(names, pa.array([VALUE] * KEYS, pa.binary()))
        started = process_time()
        for some in asked:
            store.get(some)
        spent = process_time() - started
        store.close()
    return spent / (BATCH * BATCHES) * 1e6


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    """A connection that sends each command at once."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def _command(*parts: bytes) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


def _spent(connection: socket.socket, server: int, commands: Sequence[bytes]) -> float:
    """CPU seconds of both processes."""
    before = process_time() + cpu_of(server)
    found = _asked(connection, commands)
    after = process_time() + cpu_of(server)
    if found != ONE_BY_ONE * len(VALUE):
        raise AssertionError("the server does not give what it was given")
    return after - before


def _asked(connection: socket.socket, commands: Sequence[bytes]) -> int:
    """One command after the other, each with its answer; how many bytes of values came."""
    found = 0
    for command in commands:
        connection.sendall(command)
        answer = connection.recv(1 << 20)
        while not _whole(answer):
            answer += connection.recv(1 << 20)
        found += answer.count(VALUE) * len(VALUE)
    return found


def _whole(answer: bytes) -> bool:
    """Whether all values are there: of one key, of several, or a plain OK."""
    kind, lines = answer[:1], answer.count(b"\r\n")
    if kind == b"*" and lines:
        return lines == 1 + 2 * int(answer[1 : answer.index(b"\r\n")])
    return lines == (2 if kind == b"$" else 1)

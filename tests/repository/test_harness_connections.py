"""Connections of other processes are cut as sieges need it: both ways, or one of them."""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness.machine.connections import shut_down_connections

_SERVER = """
import socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
print("listens", flush=True)
connection, _ = listener.accept()
connection.sendall(b"welcome")
received = connection.recv(100)
try:
    connection.sendall(b"answer to " + received)
    print("received", received.decode(), "and answered", flush=True)
except OSError:
    print("received", received.decode(), "and could not answer", flush=True)
sys.stdin.read()
"""


@contextmanager
def connected(path: Path) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A process that has accepted a connection at a Unix socket, and the other end of it."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout
            assert server.stdout.readline() == "listens\n"
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                assert client.recv(100) == b"welcome"
                yield server, client
        finally:
            server.kill()


def printed(server: "subprocess.Popen[str]") -> str:
    assert server.stdout
    return server.stdout.readline().rstrip()


@pytest.mark.usefixtures("process")
def test_what_is_shut_down_both_ways_is_lost_to_both(tmp_path: Path) -> None:
    with connected(tmp_path / "socket") as (server, client):
        assert shut_down_connections(server.pid, str(tmp_path)) == 1
        assert printed(server) == "received  and could not answer"
        assert client.recv(100) == b""
        with pytest.raises(BrokenPipeError):
            client.sendall(b"request")


@pytest.mark.usefixtures("process")
def test_a_server_that_cannot_answer_still_receives(tmp_path: Path) -> None:
    with connected(tmp_path / "socket") as (server, client):
        assert shut_down_connections(server.pid, str(tmp_path), socket.SHUT_WR) == 1
        assert client.recv(100) == b""
        client.sendall(b"request")
        assert printed(server) == "received request and could not answer"


@pytest.mark.usefixtures("process")
def test_a_server_that_does_not_hear_can_still_answer(tmp_path: Path) -> None:
    with connected(tmp_path / "socket") as (server, client):
        assert shut_down_connections(server.pid, str(tmp_path), socket.SHUT_RD) == 1
        assert printed(server) == "received  and answered"
        assert client.recv(100) == b"answer to "
        with pytest.raises(BrokenPipeError):
            client.sendall(b"request")


@pytest.mark.usefixtures("process")
def test_connections_of_other_folders_and_ended_processes_are_left_alone(tmp_path: Path) -> None:
    with connected(tmp_path / "socket") as (server, client):
        assert shut_down_connections(server.pid, str(tmp_path / "other")) == 0
        client.sendall(b"request")
        assert client.recv(100) == b"answer to request"
    assert shut_down_connections(server.pid, str(tmp_path)) == 0

"""A way to a broker: a port of its own, and what happens to the connections that are made there."""

import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

PRODUCE, INIT_PRODUCER_ID, ADD_PARTITIONS, END_TRANSACTION = 0, 22, 24, 26
"""The protocol's numbers of requests."""


class BrokerWay:
    """Leads from a port of its own to another one, by threads that end with their connections."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._threads: list[threading.Thread] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._server.getsockname())
        self._start(self._accept)

    def close(self) -> None:
        """Let nobody in any more, and return when all connections have ended."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.end_connections()
        for thread in self._threads:
            thread.join()

    def lead(self, near: socket.socket, far: socket.socket) -> None:
        """Begin to lead a client to the broker."""
        raise NotImplementedError

    def end_connections(self) -> None:
        """End connections that would not end by themselves."""

    def _start(self, work: Callable[..., None], *arguments: Any) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments))
        self._threads[-1].start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                try:
                    far = socket.create_connection(self._target)
                except OSError:
                    near.close()
                    continue
                self.lead(near, far)


class RequestWay(BrokerWay):
    """Leads to a broker one request after the other, each of which may be looked at."""

    def __init__(self, target: str) -> None:
        self._clients: list[socket.socket] = []
        self.requests: Counter[int] = Counter()  # of each kind that came
        super().__init__(target)

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """Serve a client until one side ends."""
        raise NotImplementedError

    def counted(self, request: bytes) -> int:
        """The kind of a request that came."""
        (api,) = struct.unpack_from(">h", request, 4)
        self.requests[api] += 1
        return int(api)

    def end_connections(self) -> None:
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def lead(self, near: socket.socket, far: socket.socket) -> None:
        self._clients.append(near)
        self._start(self._serve, near, far)

    def _serve(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError), near, far:
            self.serve(near, far)


def framed(source: socket.socket) -> bytes:
    """A whole request or answer with its size before it; nothing once the other side has ended."""
    head = source.recv(4, socket.MSG_WAITALL)
    return head + source.recv(int.from_bytes(head), socket.MSG_WAITALL) if len(head) == 4 else b""

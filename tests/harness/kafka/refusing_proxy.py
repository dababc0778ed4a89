"""A way to a broker that answers some Produce requests itself: the leader is not ready yet."""

import socket
import struct
import threading
from collections.abc import Set as AbstractSet
from contextlib import suppress

_PRODUCE = 0
_NOT_LEADER = 6
_NOTHING = -1


class RefusingWay:
    """Leads from a port of its own to a broker."""

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self.requests = 0  # Produce requests
        self._connections: list[socket.socket] = []
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self._server.getsockname())
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def refuse(self, topic: str, numbers: AbstractSet[int]) -> None:
        """From now on Produce requests are for the first partition of `topic`; those with these numbers,
        from 0 on, never get to the broker.
        """
        self._topic, self._refused, self.requests = topic.encode(), numbers, 0

    def close(self) -> None:
        """Let nobody in any more, and end all connections."""
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                self._connections.append(near)
                self._threads.append(threading.Thread(target=self._serve, args=(near,)))
                self._threads[-1].start()

    def _serve(self, near: socket.socket) -> None:
        """One request after the other, each answered before the next is looked at, as a broker does."""
        with suppress(OSError), near, socket.create_connection(self._target) as far:
            while request := _framed(near):
                near.sendall(self._answer(request, far))

    def _answer(self, request: bytes, far: socket.socket) -> bytes:
        api, _, correlation = struct.unpack_from(">hhi", request, 4)
        if api == _PRODUCE:
            self.requests += 1
            if self.requests - 1 in self._refused:
                return self._refusal(correlation)
        far.sendall(request)
        return _framed(far)

    def _refusal(self, correlation: int) -> bytes:
        topic = struct.pack(f">h{len(self._topic)}s", len(self._topic), self._topic)
        partition = struct.pack(">ihqqq", 0, _NOT_LEADER, _NOTHING, _NOTHING, _NOTHING)
        one = struct.pack(">i", 1)
        body = struct.pack(">i", correlation) + one + topic + one + partition + struct.pack(">i", 0)
        return struct.pack(">i", len(body)) + body


def _framed(source: socket.socket) -> bytes:
    """A whole request or answer with its size before it; nothing once the other side has ended."""
    head = source.recv(4, socket.MSG_WAITALL)
    return head + source.recv(int.from_bytes(head), socket.MSG_WAITALL) if len(head) == 4 else b""

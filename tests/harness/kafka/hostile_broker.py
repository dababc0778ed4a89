"""A broker of an attacker's, which answers who asks for a cluster's metadata with whatever it likes."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from typing import Final

_METADATA, _API_VERSIONS = 3, 18
_METADATA_VERSION: Final = 4


@dataclass(slots=True)
class HostileBroker:
    """What its cluster is said to be; requests that are not answered wait for ever."""

    brokers: int = 1
    partitions: int = 1  # of each topic that is asked for
    silent: bool = False
    port: int = 0
    asked: list[str] = field(default_factory=list)  # the topics

    @property
    def address(self) -> str:
        """The address to bootstrap from."""
        return f"127.0.0.1:{self.port}"

    def answer(self, request: bytes) -> bytes | None:
        """The answer to a request, None for one that gets none."""
        key, version, correlation, client_length = struct.unpack_from(">hhih", request)
        head = struct.pack(">i", correlation)
        if self.silent:
            return None
        if key == _API_VERSIONS:
            return head + (_versions() if version < 3 else _flexible_versions())
        if key == _METADATA:
            return head + self._metadata(request[10 + max(client_length, 0) :])
        return None

    def _metadata(self, body: bytes) -> bytes:
        brokers = b"".join(
            struct.pack(">i", number) + _text("127.0.0.1") + struct.pack(">i", self.port) + b"\xff\xff"
            for number in range(self.brokers)
        )
        topics = list(_topics(body))
        self.asked += topics
        answers = b"".join(
            struct.pack(">h", 0) + _text(name) + b"\0" + _partitions(self.partitions) for name in topics
        )
        cluster = struct.pack(">i", self.brokers) + brokers + _text("cluster") + struct.pack(">i", 0)
        return struct.pack(">i", 0) + cluster + struct.pack(">i", len(topics)) + answers


def _topics(body: bytes) -> Iterator[str]:
    (number,) = struct.unpack_from(">i", body)
    position = 4
    for _ in range(number):
        (length,) = struct.unpack_from(">h", body, position)
        yield body[position + 2 : position + 2 + length].decode()
        position += 2 + length


def _text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


@cache
def _partitions(number: int) -> bytes:
    return struct.pack(">i", number) + b"".join(
        struct.pack(">hiiiiii", 0, index, 0, 1, 0, 1, 0) for index in range(number)
    )


def _versions() -> bytes:
    return struct.pack(">hihhhhhh", 0, 2, _METADATA, 0, _METADATA_VERSION, _API_VERSIONS, 0, 3)


def _flexible_versions() -> bytes:
    rows = ((_METADATA, 0, _METADATA_VERSION), (_API_VERSIONS, 0, 3))
    entries = b"".join(struct.pack(">hhhb", *row, 0) for row in rows)
    return struct.pack(">hb", 0, len(rows) + 1) + entries + struct.pack(">ib", 0, 0)


@contextmanager
def hostile_broker(broker: HostileBroker) -> Iterator[HostileBroker]:
    """Serve one on a free port of 127.0.0.1."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            while len(head := self.rfile.read(4)) == 4:
                answer = broker.answer(self.rfile.read(int.from_bytes(head)))
                if answer is not None:
                    self.wfile.write(struct.pack(">i", len(answer)) + answer)

    class Server(ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 1024

        def handle_error(self, request: object, client_address: object) -> None:
            """Nothing: a client that is ended leaves its connections."""

    with Server(("127.0.0.1", 0), Handler) as server:
        broker.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield broker
        finally:
            server.shutdown()
            thread.join()

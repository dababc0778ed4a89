"""One connection to a broker: requests go out, answers come in the same order."""

import socket
import ssl
import struct
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader

_LARGEST = 1 << 30  # no broker sends so much: what says so is no broker
_HEAD = struct.Struct(">ii")
_SPARE = 65_536


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ConnectionSecurity:
    """How connections are made: plain where there is no context; for whom.

    `timeout` is how long anything may take, and for how long what fails is tried again.
    """

    tls: ssl.SSLContext | None = None
    timeout: float = 15.0
    client: str = "streamapp"


PLAINTEXT = ConnectionSecurity()


class BrokerConnection:
    """A socket that speaks the protocol. Any OSError or MalformedError is its end: close it then."""

    def __init__(self, address: BrokerAddress, security: ConnectionSecurity) -> None:
        self.address = address
        self._client = security.client.encode()
        tcp_socket = socket.create_connection((address.host, address.port), security.timeout)
        try:
            tcp_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = (
                security.tls.wrap_socket(tcp_socket, server_hostname=address.host)
                if security.tls
                else tcp_socket
            )
        except BaseException:
            tcp_socket.close()
            raise
        self._sent = 0
        self._answered = 0
        self._room: Octets = np.empty(_SPARE, np.uint8)

    def send(self, api: int, version: int, body: RequestBody) -> int:
        """Send a request; gives its number, by which its answer is asked for."""
        self._sent += 1
        client = self._client
        head = struct.pack(f">hhih{len(client)}s", api, version, self._sent, len(client), client)
        size = struct.pack(">i", len(head) + sum(map(len, body.parts)))
        self._write([size, head, *body.parts])
        return self._sent

    def awaits(self, number: int) -> bool:
        """Whether the answer to a request is still to come."""
        return number > self._answered

    def receive(self, number: int) -> ResponseReader:
        """The answer to a request; those to earlier ones, which nobody asked for, are dropped.

        It is good until the next one is received.
        """
        while True:
            size, correlation = _HEAD.unpack_from(self._read(_HEAD.size).data)
            if not 4 <= size <= _LARGEST:
                raise MalformedError(f"{self.address} does not speak Kafka's protocol")
            octets = self._read(size - 4)
            self._answered += 1
            if correlation != self._answered:
                raise MalformedError(f"{self.address} answered what was not asked")
            if correlation == number:
                return ResponseReader(octets, size - 4)

    def ask(self, api: int, version: int, body: RequestBody) -> ResponseReader:
        """Send a request and wait for the answer."""
        return self.receive(self.send(api, version, body))

    def close(self) -> None:
        """Let go of the socket."""
        with suppress(OSError):
            self._socket.close()

    def _write(self, parts: Sequence[bytes | bytearray | memoryview]) -> None:
        small = bytearray()
        for part in parts:
            if len(part) < _SPARE:
                small += part
                continue
            self._socket.sendall(small)
            small.clear()
            self._socket.sendall(part)
        self._socket.sendall(small)

    def _read(self, size: int) -> Octets:
        """So many bytes, with room behind them for a number to be looked for at their end."""
        if len(self._room) < size + varints.PADDING:
            self._room = np.empty(size + size // 8 + varints.PADDING, np.uint8)
        view = self._room.data
        at = 0
        while at < size:
            read = self._socket.recv_into(view[at:size])
            if not read:
                raise ConnectionResetError(f"{self.address} closed the connection")
            at += read
        return self._room[: size + varints.PADDING]

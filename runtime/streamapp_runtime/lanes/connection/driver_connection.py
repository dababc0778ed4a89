"""The lane's end of the connection: asks for orders, and reports what came of them."""

import os
import select
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from streamapp_runtime.lanes.connection.channel import Channel, client_channel
from streamapp_runtime.lanes.connection.handshake import LaneHandshake
from streamapp_runtime.lanes.connection.lane_address import LaneAddress
from streamapp_runtime.lanes.connection.messages import (
    MOST_BYTES,
    LaneMessageKind,
    MalformedMessageError,
    Message,
    MessageBuffer,
    message,
)

CONNECT_SECONDS: Final = 10.0
"""How long a driver that is there may take to answer."""
_LOOK_SECONDS: Final = 1.0
"""How often a lane that waits looks whether its own parent lives."""
_READ_BYTES: Final = 1 << 18


class DriverLostError(Exception):
    """The driver has closed the connection, or this worker's parent is gone: there is nobody to work for."""


@dataclass(slots=True)
class DriverConnection:
    """A proven connection to the driver."""

    address: LaneAddress
    _socket: socket.socket
    _channel: Channel
    _buffer: MessageBuffer = field(default_factory=MessageBuffer)
    _parent: int = field(default_factory=os.getppid)
    _answer_by: float | None = None  # until the driver has proven itself

    @classmethod
    def open(cls, address: LaneAddress) -> Self:
        """Connect, and have both sides prove themselves; OSError or ProofError where that fails."""
        connected = address.connect(CONNECT_SECONDS)
        connected.settimeout(None)  # a driver that is stopped for a while is outwaited
        channel = client_channel(address.certificate)
        connection = cls(address, connected, channel, _answer_by=time.monotonic() + CONNECT_SECONDS)
        try:
            connection._flush()
            handshake = LaneHandshake(address)
            challenge = connection._receive()
            connection._send(handshake.hello(challenge))
            handshake.check(challenge, connection._receive())
        except BaseException:
            connected.close()
            raise
        connection._buffer.most_bytes = MOST_BYTES
        connection._answer_by = None
        return connection

    def __enter__(self) -> Self:
        """Close at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def next_order(self, lane: int, after: int) -> bytes | None:
        """The next order behind a batch, waited for; None where there are no more."""
        self._send(message(LaneMessageKind.ASK, {"lane": lane, "after": after}))
        return self._order()

    def report(self, lane: int, batch: int, reports: Sequence[Mapping[str, object]]) -> None:
        """Say what came of an order."""
        self._send(message(LaneMessageKind.REPORT, {"lane": lane, "batch": batch, "reports": reports}))

    def _order(self) -> bytes | None:
        answer = self._receive()
        match answer.kind:
            case LaneMessageKind.ORDER:
                return answer.payload
            case LaneMessageKind.END:
                return None
            case other:
                raise MalformedMessageError(f"{other.name} came where an order was due")

    def _send(self, sent: Message) -> None:
        self._channel.send(sent.encoded())
        self._flush()

    def _flush(self) -> None:
        try:
            self._socket.sendall(self._channel.outgoing())
        except OSError as error:
            raise DriverLostError(f"the connection to the driver is lost: {error}") from error

    def _receive(self) -> Message:
        while True:
            for received in self._buffer.messages():
                return received
            self._buffer.feed(self._channel.receive(self._arrived()))
            self._flush()

    def _arrived(self) -> bytes:
        """The next bytes, waited for as long as the process that started this one lives."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        while not poll.poll(_LOOK_SECONDS * 1000):
            if os.getppid() != self._parent:
                raise DriverLostError("the daemon of this worker has ended")
            if self._answer_by is not None and time.monotonic() > self._answer_by:
                raise DriverLostError(f"nothing answers at the driver's address for {CONNECT_SECONDS:g} s")
        try:
            arrived = self._socket.recv(_READ_BYTES)
        except OSError as error:
            raise DriverLostError(f"the connection to the driver is lost: {error}") from error
        if not arrived:
            raise DriverLostError("the driver has closed the connection")
        return arrived

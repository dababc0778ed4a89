"""A way to a broker on which a request is held back, whose client has to take its connection for lost."""

import socket
import struct
from contextlib import suppress

from tests.harness.kafka.broker_way import BrokerWay, framed

END_TRANSACTION = 26


class LateWay(BrokerWay):
    """Leads to a broker, but for one request, which comes there when it is let through."""

    def __init__(self, target: str) -> None:
        self._api: int | None = None
        self._held = b""
        self._clients: list[socket.socket] = []
        super().__init__(target)

    def hold(self, api: int) -> None:
        """Hold back the next request of this kind."""
        self._api, self._held = api, b""

    def let_through(self) -> int:
        """Send what was held back to the broker; the error of its answer."""
        assert self._held, "nothing was held back"
        with socket.create_connection(self._target) as late:
            late.sendall(self._held)
            answer = framed(late)
        _, _, _, error = struct.unpack_from(">iiih", answer)  # size, correlation, throttling, error
        return int(error)

    def end_connections(self) -> None:
        for client in self._clients:
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)

    def lead(self, near: socket.socket, far: socket.socket) -> None:
        self._clients.append(near)
        self._start(self._serve, near, far)

    def _serve(self, near: socket.socket, far: socket.socket) -> None:
        with suppress(OSError), near, far:
            while request := framed(near):
                (api,) = struct.unpack_from(">h", request, 4)
                if api == self._api:
                    self._api, self._held = None, request
                    return
                far.sendall(request)
                near.sendall(framed(far))

"""A way to a broker on which a request is held back, whose client has to take its connection for lost."""

import socket
import struct

from tests.harness.kafka.broker_way import RequestWay, framed


class LateWay(RequestWay):
    """Leads to a broker, but for one request, which comes there when it is let through."""

    def __init__(self, target: str) -> None:
        self._api: int | None = None
        self._held = b""
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
        *_, error = struct.unpack_from(">iibih", answer)  # size, correlation, no tag, throttling, error
        return int(error)

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """Pass each request and its answer on; the connection ends with one that is held back."""
        while request := framed(near):
            if self.counted(request) == self._api:
                self._api, self._held = None, request
                return
            far.sendall(request)
            near.sendall(framed(far))

"""A way to a broker on which requests are held back, or come twice, and their clients are cut off."""

import socket
import struct
from collections import deque

from tests.harness.kafka.broker_way import RequestWay, framed


class LateWay(RequestWay):
    """Leads to a broker, but for some requests, which come there when they are let through."""

    def __init__(self, target: str) -> None:
        self._expected: dict[int, bool] = {}  # by kind, whether it is passed on as well
        self.late: deque[bytes] = deque()
        super().__init__(target)

    def hold(self, api: int, *, doubled: bool = False) -> None:
        """Hold back the next request of this kind; one that is `doubled` comes at once too.

        In both cases its client gets no answer.
        """
        self._expected[api] = doubled

    def let_through(self) -> bytes:
        """Send what was held back first to the broker; the answer."""
        with socket.create_connection(self._target) as connection:
            connection.sendall(self.late.popleft())
            return framed(connection)

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """Pass each request and its answer on; the connection ends with one that is held back."""
        while request := framed(near):
            doubled = self._expected.pop(self.counted(request), None)
            if doubled is not None:
                self.late.append(request)
                if doubled:
                    far.sendall(request)
                    framed(far)
                return
            far.sendall(request)
            near.sendall(framed(far))


def end_error(answer: bytes) -> int:
    """The error of an answer to EndTxn."""
    *_, error = struct.unpack_from(">iibih", answer)  # size, correlation, no tag, throttling, error
    return int(error)

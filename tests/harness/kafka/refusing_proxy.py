"""A way to a broker that answers some Produce requests itself: the leader is not ready yet."""

import socket
import struct
from collections.abc import Set as AbstractSet

from tests.harness.kafka.broker_way import PRODUCE, RequestWay, framed

NOT_LEADER, TRANSACTION_ABORTABLE = 6, 120
_NOTHING = -1


class RefusingWay(RequestWay):
    """Leads to a broker, but for some requests."""

    def refuse(self, topic: str, numbers: AbstractSet[int], error: int = NOT_LEADER) -> None:
        """From now on Produce requests are for the first partition of `topic`; those with these numbers,
        from 0 on, never get to the broker.
        """
        self._topic, self._refused, self._error = topic.encode(), numbers, error
        self.requests.clear()

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """One request after the other, each answered before the next is looked at, as a broker does."""
        while request := framed(near):
            near.sendall(self._answer(request, far))

    def _answer(self, request: bytes, far: socket.socket) -> bytes:
        if self.counted(request) == PRODUCE and self.requests[PRODUCE] - 1 in self._refused:
            (correlation,) = struct.unpack_from(">i", request, 8)
            return self._refusal(correlation)
        far.sendall(request)
        return framed(far)

    def _refusal(self, correlation: int) -> bytes:
        """An answer of version 9 and later: sizes are one more in one byte, structures end with no tag."""
        topic = bytes([len(self._topic) + 1]) + self._topic
        partition = struct.pack(">ihqqqbbb", 0, self._error, _NOTHING, _NOTHING, _NOTHING, 1, 0, 0)
        one, end = b"\x02", b"\0"
        throttled = struct.pack(">i", 0)
        body = struct.pack(">ib", correlation, 0) + one + topic + one + partition + end + throttled + end
        return struct.pack(">i", len(body)) + body

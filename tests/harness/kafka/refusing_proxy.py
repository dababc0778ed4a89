"""A way to a broker that answers some Produce requests itself: the leader is not ready yet."""

import socket
import struct
from collections.abc import Set as AbstractSet

from tests.harness.kafka.broker_way import RequestWay, framed

_PRODUCE = 0
_NOT_LEADER = 6
_NOTHING = -1


class RefusingWay(RequestWay):
    """Leads to a broker, but for some requests."""

    def __init__(self, target: str) -> None:
        self.requests = 0  # Produce requests
        super().__init__(target)

    def refuse(self, topic: str, numbers: AbstractSet[int]) -> None:
        """From now on Produce requests are for the first partition of `topic`; those with these numbers,
        from 0 on, never get to the broker.
        """
        self._topic, self._refused, self.requests = topic.encode(), numbers, 0

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """One request after the other, each answered before the next is looked at, as a broker does."""
        while request := framed(near):
            near.sendall(self._answer(request, far))

    def _answer(self, request: bytes, far: socket.socket) -> bytes:
        api, _, correlation = struct.unpack_from(">hhi", request, 4)
        if api == _PRODUCE:
            self.requests += 1
            if self.requests - 1 in self._refused:
                return self._refusal(correlation)
        far.sendall(request)
        return framed(far)

    def _refusal(self, correlation: int) -> bytes:
        topic = struct.pack(f">h{len(self._topic)}s", len(self._topic), self._topic)
        partition = struct.pack(">ihqqq", 0, _NOT_LEADER, _NOTHING, _NOTHING, _NOTHING)
        one = struct.pack(">i", 1)
        body = struct.pack(">i", correlation) + one + topic + one + partition + struct.pack(">i", 0)
        return struct.pack(">i", len(body)) + body

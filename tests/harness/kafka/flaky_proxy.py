"""A way to a broker on which connections are cut and bytes altered, now and then, by chance."""

import random
import socket
from contextlib import suppress
from dataclasses import dataclass

from tests.harness.kafka.broker_way import BrokerWay

_CHUNK = 65_536


class BadWay(BrokerWay):
    """Every connection ends badly after some bytes."""

    def __init__(self, target: str, seed: int, longest: int, *, alters: bool) -> None:
        """Up to `longest` bytes go over one connection; some that come back are altered where it `alters`."""
        self._chance = random.Random(seed)  # noqa: S311
        self._longest = longest
        self._alters = alters
        self.ended = 0  # connections
        super().__init__(target)

    def lead(self, near: socket.socket, far: socket.socket) -> None:
        for source, to in ((near, far), (far, near)):
            self._start(self._lead, source, to, self._end(back=source is far))

    def _end(self, *, back: bool) -> "_End":
        altered = self._alters and back and self._chance.random() < 0.5
        whole = back and not altered and self._chance.random() < 0.5
        return _End(self._chance.randrange(self._longest), altered, whole)

    def _lead(self, source: socket.socket, to: socket.socket, end: "_End") -> None:
        left = end.after
        with suppress(OSError):
            while left > 0 and (data := _answer(source) if end.whole else source.recv(min(_CHUNK, left))):
                left -= len(data)
                if end.altered and left <= 0:
                    data = data[:-1] + bytes([data[-1] ^ 0x55])
                to.sendall(data)
        self.ended += 1
        for each in (source, to):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@dataclass(frozen=True, slots=True)
class _End:
    """How one direction of a connection ends."""

    after: int  # bytes
    altered: bool  # the last byte
    whole: bool  # with a whole answer, so that the next request finds nobody


def _answer(source: socket.socket) -> bytes:
    """A whole answer, which begins with its size."""
    head = source.recv(4, socket.MSG_WAITALL)
    return head + source.recv(int.from_bytes(head), socket.MSG_WAITALL)

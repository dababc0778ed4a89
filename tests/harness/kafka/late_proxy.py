"""A way to a broker on which requests are held back, or come twice, and their clients are cut off."""

import random
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.harness.kafka.broker import Broker
from tests.harness.kafka.broker_way import (
    ADD_PARTITIONS,
    END_TRANSACTION,
    INIT_PRODUCER_ID,
    PRODUCE,
    RequestWay,
    framed,
)

_WAY: Final = "WAY"
_OF_TRANSACTIONS: Final = frozenset({INIT_PRODUCER_ID, ADD_PARTITIONS, PRODUCE, END_TRANSACTION})
_HELD_SHARE, _DOUBLED_SHARE, _ARRIVING_SHARE = 0.03, 0.3, 0.1
"""The requests of transactions that are held back; those of them that come at once too; the requests before
which one that was held back arrives."""


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
        return self._delivered(self.late.popleft())

    def _delivered(self, request: bytes) -> bytes:
        with socket.create_connection(self._target) as connection:
            connection.sendall(request)
            return framed(connection)

    def is_passed_on(self, api: int) -> bool | None:
        """Whether a request that is held back comes at once too; None for one that is not."""
        return self._expected.pop(api, None)

    def serve(self, near: socket.socket, far: socket.socket) -> None:
        """Pass each request and its answer on; the connection ends with one that is held back."""
        while request := framed(near):
            doubled = self.is_passed_on(self.counted(request))
            if doubled is not None:
                self.late.append(request)
                if doubled:
                    far.sendall(request)
                    framed(far)
                return
            far.sendall(request)
            if not (answer := framed(far)):
                return  # the broker has ended
            near.sendall(answer)


class ScheduledWay(LateWay):
    """The same, where chance says which requests of transactions are held back, and when those arrive."""

    def __init__(self, target: str, seed: int) -> None:
        self._chance = random.Random(seed)  # noqa: S311
        self._lock = threading.Lock()
        self.arrived = 0  # requests that were held back before
        super().__init__(target)

    def is_passed_on(self, api: int) -> bool | None:
        """Let one through that was held back, now and then, and hold others back."""
        if api not in _OF_TRANSACTIONS:
            return None
        with self._lock:
            is_held = self._chance.random() < _HELD_SHARE
            is_doubled = self._chance.random() < _DOUBLED_SHARE
            arriving = self.late.popleft() if self.late and self._chance.random() < _ARRIVING_SHARE else None
        if arriving is not None:
            with suppress(OSError):  # the broker may be away
                self._delivered(arriving)
                self.arrived += 1
        return is_doubled if is_held else None


@contextmanager
def broker_behind_a_schedule(
    folder: Path, transaction_version: int, seed: int, release: str
) -> Iterator[tuple[Broker, ScheduledWay]]:
    """A broker with this version of transactions, and a way to it on which requests come late and twice."""
    broker = Broker(folder, guards={_WAY: "PLAINTEXT"}, release=release)
    broker.features = {"transaction.version": transaction_version}
    with closing(ScheduledWay(broker.guarded(_WAY), seed)) as way:
        broker.told = {_WAY: way.address}
        try:
            broker.start()
            yield broker, way
        finally:
            broker.kill()


def end_error(answer: bytes) -> int:
    """The error of an answer to EndTxn."""
    *_, error = struct.unpack_from(">iibih", answer)  # size, correlation, no tag, throttling, error
    return int(error)

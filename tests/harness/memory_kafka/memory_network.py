"""A network in memory: one clock, one order of what happens, and what goes wrong with a request by chance."""

import heapq
import random
import socket
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, cast

from streamapp_runtime.systems.kafka.wire.requests.broker_names import AddressFamily
from streamapp_runtime.systems.kafka.wire.requests.broker_network import BrokerNetwork
from tests.harness.kafka.broker_way import ADD_PARTITIONS, END_TRANSACTION, INIT_PRODUCER_ID, PRODUCE

WRITING: Final = (INIT_PRODUCER_ID, ADD_PARTITIONS, PRODUCE, END_TRANSACTION)
"""The requests of transactions."""

_WAY_SECONDS = 0.0005
_LATEST = 12
"""A request that is held back comes after so many others that write at most."""


class RequestFate(Enum):
    """The fate of a request; but for the first, its client gets no answer."""

    ANSWERED = "it is answered"
    LOST = "it never comes to the broker"
    UNANSWERED = "its answer is lost, and the connection ends"
    SILENT = "its answer is lost, and the connection stays"
    LATE = "it comes after others that were sent later"
    DOUBLED = "it comes at once, and again after others that were sent later"


_WEIGHTS = {
    RequestFate.LOST: 2,
    RequestFate.UNANSWERED: 3,
    RequestFate.SILENT: 1,
    RequestFate.LATE: 8,
    RequestFate.DOUBLED: 5,
}
AnswerRequest = Callable[[int, bytes], bytes]
"""Has a broker, by its number, take a request; gives the answer."""


@dataclass(slots=True)
class MemoryNetwork(BrokerNetwork):
    """The way to brokers; their names are their numbers."""

    chance: random.Random
    kinds: Collection[int]  # of requests with which something may go wrong
    rate: float  # of those with which something does
    answer: AnswerRequest = field(init=False)
    seconds: float = 1.0
    sent: Counter[int] = field(default_factory=Counter)  # requests of each kind
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _numbered: int = 0
    _written: int = 0
    _late: list[tuple[int, int, bytes]] = field(default_factory=list)  # after which request, to whom

    def connect(self, host: str, port: int, seconds: float, family: AddressFamily) -> socket.socket:
        return cast("socket.socket", MemorySocket(self, int(host)))

    def now(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Have something happen."""
        self._numbered += 1
        heapq.heappush(self._events, (self.seconds + seconds, self._numbered, action))

    def wait(self, done: Callable[[], bool], seconds: float) -> bool:
        """Let things happen until something is so, or the time is over."""
        end = self.seconds + seconds
        while not done():
            if not self._events or self._events[0][0] > end:
                self.seconds = end
                return False
            self.seconds, _, action = heapq.heappop(self._events)
            action()
        return True

    def send(self, near: "MemorySocket", node: int, request: bytes) -> None:
        """Bring a request to a broker, or have something happen to it."""
        kind = int.from_bytes(request[:2])
        self.sent[kind] += 1
        fate = RequestFate.ANSWERED
        if kind in WRITING:
            self._written += 1
            self._let_through()
            if kind in self.kinds and self.chance.random() < self.rate:
                (fate,) = self.chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))
        if fate in (RequestFate.LATE, RequestFate.DOUBLED):
            self._late.append((self._written + self.chance.randint(1, _LATEST), node, request))
        if fate in (RequestFate.LOST, RequestFate.LATE):
            self.after(_WAY_SECONDS, near.end)
            return

        def arrive() -> None:
            answer = self.answer(node, request)
            if fate is RequestFate.ANSWERED:
                self.after(_WAY_SECONDS, lambda: near.receive(answer))
            elif fate is not RequestFate.SILENT:
                near.end()

        self.after(_WAY_SECONDS, arrive)

    def quieten(self) -> None:
        """Bring everything that is late, and let nothing go wrong from now on."""
        self.rate = 0.0
        self._let_through(all_of_it=True)

    def _let_through(self, *, all_of_it: bool = False) -> None:
        for entry in [one for one in self._late if all_of_it or one[0] <= self._written]:
            self._late.remove(entry)
            self.answer(*entry[1:])


class MemorySocket:
    """One end of a connection to a broker, as the client uses a socket."""

    def __init__(self, network: MemoryNetwork, node: int) -> None:
        self._network, self._node = network, node
        self._written, self._received = bytearray(), bytearray()
        self._ended = False
        self._timeout = 0.0

    def setsockopt(self, *_: object) -> None:
        """Nothing: there is no option."""

    def settimeout(self, seconds: float) -> None:
        self._timeout = seconds

    def sendall(self, octets: bytes) -> None:
        if self._ended:
            raise ConnectionResetError(104, "Connection reset by peer")
        self._written += octets
        while len(self._written) >= 4 and len(self._written) >= (size := self._size()):
            request = bytes(self._written[4:size])
            del self._written[:size]
            self._network.send(self, self._node, request)

    def recv_into(self, view: memoryview) -> int:
        if not self._network.wait(lambda: bool(self._received) or self._ended, self._timeout):
            raise TimeoutError
        size = min(len(view), len(self._received))
        view[:size] = self._received[:size]
        del self._received[:size]
        return size

    def close(self) -> None:
        self._ended = True

    def receive(self, answer: bytes) -> None:
        """Have an answer come, unless the connection has ended."""
        if not self._ended:
            self._received += len(answer).to_bytes(4) + answer

    def end(self) -> None:
        """End the connection from the other side."""
        self._ended = True

    def _size(self) -> int:
        return 4 + int.from_bytes(self._written[:4])

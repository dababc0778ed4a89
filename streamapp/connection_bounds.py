"""Bounds on connections of strangers: so many at a time, of an address too, and for so long.

Who comes is always taken. Where there are too many, the oldest connection of the address that has most ends:
who holds connections open keeps out nobody but itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Final, Generic, TypeVar

MOST_CONNECTIONS: Final = 64
"""Of a port that answers HTTP."""
MOST_OF_ADDRESS: Final = 16
"""So many of one address, where other machines can ask; on loopback all have one address."""
REQUEST_SECONDS: Final = 10.0
"""So long a connection may take to say what it wants."""
Connection = TypeVar("Connection")


@dataclass(slots=True)
class ConnectionBounds(Generic[Connection]):
    """The connections that are bounded, from the oldest to the newest."""

    most: int
    most_of_address: int
    seconds: float  # that each may take
    _connections: dict[Connection, tuple[str, float]] = field(default_factory=dict)  # address, and its end
    _by_address: dict[str, dict[Connection, None]] = field(default_factory=dict)

    def __len__(self) -> int:
        """The number of connections."""
        return len(self._connections)

    def add(self, connection: Connection, address: str, now: float) -> Connection | None:
        """Take a connection; gives the one that is to end for it, of which `forget` is to be told too."""
        self._connections[connection] = address, now + self.seconds
        of_address = self._by_address.setdefault(address, {})
        of_address[connection] = None
        if len(of_address) > self.most_of_address:
            return next(iter(of_address))
        if len(self._connections) > self.most:
            fullest = max(self._by_address.values(), key=len)
            return next(iter(fullest))
        return None

    def settle(self, connection: Connection, end: float = inf) -> None:
        """Let a connection take until then, or as long as it wants: it has said what it is there for."""
        if known := self._connections.get(connection):
            self._connections[connection] = known[0], end

    def forget(self, connection: Connection) -> None:
        """Bound a connection no more: it has ended, or has proven what it is."""
        if known := self._connections.pop(connection, None):
            of_address = self._by_address[known[0]]
            del of_address[connection]
            if not of_address:
                del self._by_address[known[0]]

    def overdue(self, now: float) -> Iterator[Connection]:
        """The connections whose time is over; each may be forgotten while they are gone through."""
        for connection, (_, end) in list(self._connections.items()):
            if end < now:
                yield connection

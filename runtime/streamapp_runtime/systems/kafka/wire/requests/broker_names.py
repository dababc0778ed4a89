"""Addresses of brokers' names: kept for half a minute, and for longer while no name server answers.

Java's clients do the same (`networkaddress.cache.ttl` and `networkaddress.cache.stale.ttl`). A resolver waits
for a name server that is gone, name after name, and nothing ends that wait, while the address of a broker has
seldom changed.
"""

import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Final

FRESH_SECONDS: Final = 30.0
"""How long an address is used without asking."""
ANSWER_SECONDS: Final = 1.0
"""How long a name server is waited for where an earlier answer is known."""


@dataclass(slots=True)
class _Lookup:
    """One question to the resolver, in a thread of its own, since nothing else ends its wait."""

    host: str
    addresses: tuple[str, ...] = ()
    error: OSError | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Ask, and note what is answered."""
        try:
            answers = socket.getaddrinfo(self.host, None, type=socket.SOCK_STREAM)
            self.addresses = tuple(dict.fromkeys(str(place[0]) for *_, place in answers))
        except OSError as error:
            self.error = error
        self.done.set()


@dataclass(slots=True)
class BrokerNames:
    """What names led to last; any thread may ask."""

    _addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _fresh_until: dict[str, float] = field(default_factory=dict)
    _lookups: dict[str, _Lookup] = field(default_factory=dict)  # that have not been answered yet
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def connect(self, host: str, port: int, seconds: float) -> socket.socket:
        """A connection to the first address that accepts one; OSError where none does, or none is known."""
        refusal: OSError | None = None
        for address in self.addresses(host):
            try:
                return socket.create_connection((address, port), seconds)
            except OSError as error:
                refusal = error
        self._fresh_until.pop(host, None)  # it may have moved
        raise refusal or OSError(f"{host} has no address")

    def addresses(self, host: str) -> tuple[str, ...]:
        """What a name leads to; OSError where that is not known and cannot be found out."""
        known = self._addresses.get(host, ())
        if known and time.monotonic() < self._fresh_until.get(host, 0.0):
            return known
        lookup = self._lookup(host)
        answered = lookup.done.wait(ANSWER_SECONDS if known else None)
        if answered:
            self._lookups.pop(host, None)
        if answered and lookup.addresses:
            self._addresses[host] = lookup.addresses
            self._fresh_until[host] = time.monotonic() + FRESH_SECONDS
            return lookup.addresses
        if known:
            return known
        raise lookup.error or OSError(f"{host} has no address")

    def _lookup(self, host: str) -> _Lookup:
        """The question that is asked about a host already, or a new one."""
        with self._lock:
            lookup = self._lookups.get(host)
            if lookup is None:
                lookup = self._lookups[host] = _Lookup(host)
                threading.Thread(target=lookup.run, name="broker-name", daemon=True).start()
            return lookup

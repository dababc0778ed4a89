"""Addresses of brokers' names: kept for half a minute, and for longer while no name server answers.

Java's clients do the same (`networkaddress.cache.ttl` and `networkaddress.cache.stale.ttl`). A resolver waits
for a name server that is gone, name after name, and nothing ends that wait, while the address of a broker has
seldom changed.
"""

import socket
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

FRESH_SECONDS: Final = 30.0
"""How long an address is used without asking."""
ANSWER_SECONDS: Final = 1.0
"""How long a name server is waited for where an earlier answer is known."""


class AddressFamily(Enum):
    """The kind of addresses that are used, as a setting names it."""

    ANY = "any"
    V4 = "v4"
    V6 = "v6"

    @property
    def of_kind(self) -> str:
        """The kind, to follow the word address; empty for any."""
        return "" if self is AddressFamily.ANY else f" of IP{self.value}"


Lookup = Future[tuple[str, ...]]
"""One question to the resolver."""


@dataclass(slots=True)
class BrokerNames:
    """The addresses that names led to last; any thread may ask."""

    _addresses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _fresh_until: dict[str, float] = field(default_factory=dict)
    _lookups: dict[str, Lookup] = field(default_factory=dict)  # that have not been answered yet
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def connect(
        self, host: str, port: int, seconds: float, family: AddressFamily = AddressFamily.ANY
    ) -> socket.socket:
        """A connection to the first address that accepts one; OSError where none does, or none is known."""
        refusal: OSError | None = None
        for address in self.addresses(host):
            if family not in (AddressFamily.ANY, AddressFamily.V6 if ":" in address else AddressFamily.V4):
                continue
            try:
                return socket.create_connection((address, port), seconds)
            except OSError as error:
                refusal = error
        self._fresh_until.pop(host, None)  # it may have moved
        raise refusal or OSError(f"{host} has no address{family.of_kind}")

    def addresses(self, host: str) -> tuple[str, ...]:
        """The addresses of a name; OSError where they are not known and cannot be found out."""
        known = self._addresses.get(host, ())
        if known and time.monotonic() < self._fresh_until.get(host, 0.0):
            return known
        lookup = self._lookup(host)
        try:
            addresses = lookup.result(ANSWER_SECONDS if known else None)
        except OSError:  # also where there is no answer in time
            if known:
                return known
            raise
        finally:
            if lookup.done():
                self._lookups.pop(host, None)
        self._addresses[host] = addresses
        self._fresh_until[host] = time.monotonic() + FRESH_SECONDS
        return addresses

    def _lookup(self, host: str) -> Lookup:
        """The question that is asked about a host already, or a new one."""
        with self._lock:
            lookup = self._lookups.get(host)
            if lookup is None:
                lookup = self._lookups[host] = Lookup()
                # A thread of its own: nothing else ends the wait for a name server.
                threading.Thread(
                    target=_look_up, args=(host, lookup), name="broker-name", daemon=True
                ).start()
            return lookup


def _look_up(host: str, lookup: Lookup) -> None:
    """Ask the resolver."""
    try:
        answers = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        lookup.set_result(tuple(dict.fromkeys(str(place[0]) for *_, place in answers)))
    except OSError as error:
        lookup.set_exception(error)

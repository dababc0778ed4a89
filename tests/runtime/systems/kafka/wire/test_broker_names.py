"""Names of brokers lead to real connections, also while the resolver of the system hangs or fails."""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from streamapp_runtime.systems.kafka.wire.requests import broker_names
from streamapp_runtime.systems.kafka.wire.requests.broker_names import BrokerNames

NAME = "broker.example"


@dataclass(slots=True)
class Resolver:
    """Takes the place of the system's for one name; others are looked up as ever."""

    system: Any
    address: str = "127.0.0.1"
    answers: threading.Event = field(default_factory=threading.Event)
    asked: int = 0
    fails: bool = False

    def getaddrinfo(self, host: str, *rest: Any, **more: Any) -> Any:
        if host != NAME:
            return self.system(host, *rest, **more)
        self.asked += 1
        self.answers.wait()
        if self.fails:
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return self.system(self.address, *rest, **more)


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolver]:
    resolver = Resolver(socket.getaddrinfo)
    resolver.answers.set()
    monkeypatch.setattr(socket, "getaddrinfo", resolver.getaddrinfo)
    yield resolver
    resolver.answers.set()


@pytest.fixture
def port() -> Iterator[int]:
    """A port of 127.0.0.1 that accepts connections, and of no other address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def connect(names: BrokerNames, port: int) -> float:
    """How long a connection takes."""
    begun = time.monotonic()
    names.connect(NAME, port, 5.0).close()
    return time.monotonic() - begun


@pytest.fixture
def stale_names(resolver: Resolver, port: int, monkeypatch: pytest.MonkeyPatch) -> BrokerNames:
    """Names of which one was known, and is not fresh any more."""
    monkeypatch.setattr(broker_names, "FRESH_SECONDS", 0.0)
    names = BrokerNames()
    connect(names, port)
    assert resolver.asked == 1
    return names


@pytest.mark.usefixtures("loopback")
def test_a_name_is_asked_for_once_while_its_address_is_fresh(resolver: Resolver, port: int) -> None:
    names = BrokerNames()
    for _ in range(3):
        connect(names, port)
    assert resolver.asked == 1


@pytest.mark.usefixtures("loopback")
def test_a_known_address_is_used_while_the_name_server_does_not_answer(
    resolver: Resolver, port: int, stale_names: BrokerNames
) -> None:
    resolver.answers.clear()
    assert all(connect(stale_names, port) < 2 * broker_names.ANSWER_SECONDS for _ in range(3))
    assert resolver.asked == 2  # one question is open, and no other thread waits
    resolver.answers.set()
    connect(stale_names, port)
    connect(stale_names, port)
    assert resolver.asked > 2


@pytest.mark.usefixtures("loopback")
def test_a_known_address_is_used_while_the_name_server_has_no_answer(
    resolver: Resolver, port: int, stale_names: BrokerNames
) -> None:
    resolver.fails = True
    connect(stale_names, port)
    assert resolver.asked == 2


@pytest.mark.usefixtures("loopback")
def test_a_broker_that_has_moved_is_asked_for_at_once(resolver: Resolver, port: int) -> None:
    names = BrokerNames()
    resolver.address = "127.0.0.2"
    with pytest.raises(ConnectionRefusedError):
        names.connect(NAME, port, 5.0)
    resolver.address = "127.0.0.1"
    connect(names, port)


@pytest.mark.usefixtures("loopback")
def test_a_name_that_was_never_known_fails_as_the_resolver_says(resolver: Resolver, port: int) -> None:
    resolver.fails = True
    names = BrokerNames()
    for _ in range(2):
        with pytest.raises(socket.gaierror, match="Temporary failure"):
            names.connect(NAME, port, 5.0)
    resolver.fails = False
    connect(names, port)

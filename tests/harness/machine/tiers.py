"""The tier of a test, by what its fixtures start: a test says nothing of its tier.

A test whose fixtures start none of these is a unit test: it starts no process, opens no socket, never sleeps.
"""

import importlib
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

STARTED_BY: Final = {
    "api_server": "api_server",
    "broker": "broker",
    "browser": "browser",
    "empty_cluster": "api_server",
    "helm": "helm",
    "kafka": "broker",
    "kafka_jars": "broker",
    "loopback": "loopback",
    "kit_jvm": "spark",
    "process": "process",
    "postgres_server": "postgres",
    "redis_server": "redis",
    "s3_server": "process",
    "session": "spark",
    "spark": "spark",
    "two_brokers": "broker",
}
"""By fixture, what it starts: the mark of each test that asks for it, directly or by another fixture."""

STARTS: Final = frozenset(STARTED_BY.values())
OTHER_TIERS: Final = STARTS | {"long", "nightly"}
EVENTS: Final = {
    "os.fork": "starts a process",
    "os.posix_spawn": "starts a process",
    "subprocess.Popen": "starts a process",
    "socket.bind": "opens a socket",
    "socket.connect": "opens a socket",
    "time.sleep": "sleeps",
}


def mark_by_fixtures(items: list[pytest.Item]) -> None:
    """Mark each test by what its fixtures start."""
    for item in items:
        started = {STARTED_BY.get(name, "") for name in getattr(item, "fixturenames", ())} - {""}
        for name in sorted(started):
            item.add_marker(name)


def is_unit_test(item: pytest.Item) -> bool:
    """Whether none of a test's marks says that it starts something, or that it takes long."""
    return not OTHER_TIERS & {mark.name for mark in item.iter_markers()}


class UnitTestGuard:
    """Sees what a unit test starts, in its own thread and in those that it has begun."""

    def __init__(self) -> None:
        self._others: frozenset[int] | None = (
            None  # threads that were there before; None outside of a unit test
        )
        self.events: list[str] = []
        importlib.import_module("urllib3")  # which binds a socket once, to see whether there is IPv6
        self._sleep = time.sleep
        time.sleep = self._audited_sleep
        sys.addaudithook(self._note)

    @contextmanager
    def watching(self, item: pytest.Item) -> Iterator[None]:
        """A part of a test, which fails at its end if it has started something and is a unit test."""
        if not is_unit_test(item):
            yield
            return
        self.events.clear()
        own = threading.get_ident()
        self._others = frozenset(thread.ident or 0 for thread in threading.enumerate()) - {own}
        try:
            yield
        finally:
            self._others = None
        if self.events:
            pytest.fail(f"a unit test {'; '.join(dict.fromkeys(self.events))}; {MEND}", pytrace=False)

    def _audited_sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._note("time.sleep", (f"for {seconds:g} s",))
        self._sleep(seconds)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._others is None or event not in EVENTS or threading.get_ident() in self._others:
            return
        detail = str(arguments[-1] if event.startswith("socket") else arguments[0] if arguments else "")
        self.events.append(f"{EVENTS[event]} ({detail[:80]})")


MEND: Final = "ask for the fixture `process` or `loopback`, or for the server that it needs"

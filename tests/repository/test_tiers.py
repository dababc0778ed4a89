"""The tier of a test follows from its fixtures, and a unit test that starts something fails and says what."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.harness.machine.left_out import LAST_START, is_too_late
from tests.harness.machine.tiers import STARTED_BY, UnitTestGuard, mark_by_fixtures

pytestmark = pytest.mark.usefixtures("process")  # what is tried here starts things
GUARD = UnitTestGuard()


def connect() -> None:
    with socket.socket() as opened, socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        opened.connect(server.getsockname())


def in_a_thread(work: Callable[[], None]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


STARTS: dict[str, Callable[[], Any]] = {
    "starts a process": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    "opens a socket": connect,
    "sleeps": lambda: time.sleep(0.001),
}


def item(*marks: str) -> pytest.Item:
    """As much of a test as the guard asks for: its marks."""
    return cast(
        "pytest.Item", SimpleNamespace(iter_markers=lambda: [SimpleNamespace(name=mark) for mark in marks])
    )


@pytest.mark.parametrize("event", STARTS)
def test_a_unit_test_that_starts_something_fails_with_what_it_was(event: str) -> None:
    with (
        pytest.raises(pytest.fail.Exception, match=f"a unit test {event} .*; ask for"),
        GUARD.watching(item()),
    ):
        STARTS[event]()
    with pytest.raises(pytest.fail.Exception, match=f"a unit test {event} "), GUARD.watching(item("smoke")):
        in_a_thread(STARTS[event])


@pytest.mark.parametrize("event", STARTS)
def test_one_whose_fixtures_start_something_may(event: str) -> None:
    with GUARD.watching(item("process")):
        STARTS[event]()


def test_what_a_thread_of_another_test_does_is_not_the_tests_own() -> None:
    begun, ended = threading.Event(), threading.Event()

    def wait_and_sleep() -> None:
        begun.wait()
        time.sleep(0.001)
        ended.set()

    thread = threading.Thread(target=wait_and_sleep)
    thread.start()
    with GUARD.watching(item()):
        begun.set()
        ended.wait()
    thread.join()


def test_each_fixture_that_starts_something_marks_its_tests(request: pytest.FixtureRequest) -> None:
    marked: list[str] = []
    for fixture in STARTED_BY:
        mark_by_fixtures(
            [
                cast(
                    "pytest.Item",
                    SimpleNamespace(fixturenames=["tmp_path", fixture], add_marker=marked.append),
                )
            ]
        )
    assert marked == list(STARTED_BY.values())
    assert "process" in {mark.name for mark in request.node.iter_markers()}


def test_a_landing_on_a_slow_machine_begins_no_further_test_after_its_last_start() -> None:
    assert not is_too_late({})
    assert not is_too_late({LAST_START: str(time.time() + 60)})
    assert is_too_late({LAST_START: str(time.time() - 1)})

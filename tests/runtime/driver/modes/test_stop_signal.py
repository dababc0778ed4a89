"""A signal ends the wait of a run, and so does who wakes it up."""

import os
import signal
import time
from collections.abc import Iterator
from threading import Timer

import pytest

from streamapp_runtime.driver.modes.stop_signal import SIGNALS, SignalStop

LONG_SECONDS = 30.0


@pytest.fixture
def stop() -> Iterator[SignalStop]:
    handlers_before = {number: signal.getsignal(number) for number in SIGNALS}
    stop = SignalStop()
    stop.on_signals()
    yield stop
    for number, handler in handlers_before.items():
        signal.signal(number, handler)


def waited(stop: SignalStop, seconds: float) -> float:
    begun = time.monotonic()
    stop.wait(seconds)
    return time.monotonic() - begun


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_wait_in_which_it_comes(stop: SignalStop, number: signal.Signals) -> None:
    later = Timer(0.1, os.kill, (os.getpid(), number))
    later.start()
    assert waited(stop, LONG_SECONDS) < LONG_SECONDS / 2
    later.join()
    assert stop.is_set()


def test_a_signal_between_two_waits_ends_the_next_one(stop: SignalStop) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    assert stop.is_set()
    assert waited(stop, LONG_SECONDS) < LONG_SECONDS / 2


def test_who_wakes_up_the_run_ends_one_wait_and_not_the_run(stop: SignalStop) -> None:
    stop.wake.set()
    assert waited(stop, LONG_SECONDS) < LONG_SECONDS / 2
    assert waited(stop, 0.2) > 0.15
    assert not stop.is_set()

"""Watches beside batches: what a slow one is at, what it waits for, and its end when its time is over."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from py4j.protocol import Py4JError

from streamapp_runtime.driver.executors.executor_probe import LOOK_SECONDS, PATIENCE_SECONDS
from streamapp_runtime.driver.failures import RETRIABLE, BatchTimeoutError
from streamapp_runtime.driver.watch_thread import watching
from streamapp_runtime.systems.stream_system import SystemTrouble

SLOW_SECONDS: Final = 30.0
"""A batch that takes so long is told of, and again each time that it has taken twice as long."""
_MOST_BYTES: Final = 4_096
_CALL_LOOK_SECONDS: Final = 1.0


@dataclass(slots=True)
class BatchWatch:
    """Watches one batch after the other, each from a thread of its own."""

    host: str  # of the driver, as workers reach it
    bind: str
    cancel: Callable[[], None]
    slow: Callable[[str], None]
    waits: Callable[[str, str], None]  # called with a lane, and what the streams' system keeps it from
    look: Callable[[], None]  # called again and again while a batch is waited for: whether its hosts answer
    _place: tuple[Any, ...] = field(init=False, repr=False)  # family, kind, protocol and address of sockets

    def __post_init__(self) -> None:
        """Resolve the address once, and not with every batch."""
        family, kind, protocol, _, address = socket.getaddrinfo(self.bind, 0, type=socket.SOCK_DGRAM)[0]
        self._place = family, kind, protocol, address

    @contextmanager
    def over(self, number: int, seconds: float | None) -> Iterator[str]:
        """Watch a batch that may take so many seconds; where workers tell of their steps.

        BatchTimeoutError takes the place of what a batch raises that was ended.
        """
        *kind, address = self._place
        with socket.socket(*kind) as receiver:
            receiver.bind(address)
            receiver.setblocking(False)
            batch = _WatchedBatch(self, number, seconds, receiver)
            try:
                with watching("batch-watch", batch.watch):
                    yield f"{self.host}:{receiver.getsockname()[1]}"
            except RETRIABLE as error:
                if batch.ended:
                    raise BatchTimeoutError(batch.ended) from error
                raise


@contextmanager
def watched_calls(
    trouble: Callable[[], SystemTrouble | None], waits: Callable[[SystemTrouble], None]
) -> Iterator[None]:
    """Say what the driver's own calls wait for at the streams' system, while they do."""

    def watch(done: threading.Event) -> None:
        while not done.wait(_CALL_LOOK_SECONDS):
            if call_trouble := trouble():
                waits(call_trouble)

    with watching("call-watch", watch):
        yield


@dataclass(slots=True)
class _WatchedBatch:
    """What is known of a batch while it runs."""

    watch_of: BatchWatch
    number: int
    seconds: float | None
    receiver: socket.socket
    ended: str = ""  # why it was ended, if it was
    _steps: dict[str, tuple[float, str]] = field(default_factory=dict)  # by lane: when it was heard, and what

    def watch(self, done: threading.Event) -> None:
        """Until the batch is done, or its time is over."""
        begun = time.monotonic()
        report_at = SLOW_SECONDS if self.seconds is None else min(SLOW_SECONDS, self.seconds / 2)
        while not done.wait(LOOK_SECONDS):
            self._receive()
            seconds = time.monotonic() - begun
            if self.seconds is not None and seconds >= self.seconds:
                self.ended = f"the batch had not ended after {self.seconds:g} s{self._at_work()}"
                with suppress(Py4JError, OSError):  # Spark has ended, and so has the batch
                    self.watch_of.cancel()
                return
            if seconds >= PATIENCE_SECONDS:
                self.watch_of.look()
            if seconds >= report_at:
                report_at *= 2
                self.watch_of.slow(f"batch {self.number} has taken {seconds:.0f} s so far{self._at_work()}")

    def _receive(self) -> None:
        while True:
            try:
                report = json.loads(self.receiver.recv(_MOST_BYTES))
                text = f"{report['lane']} has been in {report['step']} for {report['seconds']:.0f} s"
                if trouble := report.get("trouble"):
                    self.watch_of.waits(report["lane"], f"{report['lane']} is in {report['step']}: {trouble}")
            except (BlockingIOError, InterruptedError):
                return
            except (ValueError, KeyError, TypeError):
                continue  # whoever sent that is no lane
            self._steps[str(report["lane"])] = time.monotonic(), text

    def _at_work(self) -> str:
        fresh = [text for at, text in self._steps.values() if time.monotonic() - at < 5]
        return f": {'; '.join(sorted(fresh))}" if fresh else ", and no lane says which operator has it"

"""Watches beside batches: what a slow one is at, what it waits for, and its end when its time is over."""

import hmac
import logging
import secrets
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from py4j.protocol import Py4JError

from streamapp_runtime.driver.executors.executor_probe import LOOK_SECONDS, PATIENCE_SECONDS
from streamapp_runtime.driver.failures import RETRIABLE, BatchTimeoutError
from streamapp_runtime.driver.watch_thread import watching
from streamapp_runtime.lanes.batches.step_beacon import beacon_address
from streamapp_runtime.lanes.connection.messages import MalformedMessageError, parsed_object
from streamapp_runtime.systems.stream_system import SystemTrouble

SLOW_SECONDS: Final = 30.0
"""A batch that takes so long is told of, and again each time that it has taken twice as long."""
_MOST_BYTES: Final = 4_096
_MOST_DATAGRAMS: Final = 10_000
_FRESH_SECONDS: Final = 5.0
"""What a lane said before does not hold any more."""
_CALL_LOOK_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True, weakref_slot=True, eq=False)
class BatchWatch:
    """Watches batches from one thread, which ends soon after the watch is let go of.

    The thread looks twice a second, whether there is a batch or not. To start one for each batch would cost
    the driver a tenth of what it does for a small batch.
    """

    host: str  # of the driver, as workers reach it
    bind: str
    cancel: Callable[[], None]
    slow: Callable[[str], None]
    waits: Callable[[str, str], None]  # called with a lane, and what the streams' system keeps it from
    look: Callable[[], None]  # called again and again while a batch is waited for: whether its hosts answer
    _receiver: socket.socket = field(init=False, repr=False)
    _address: str = field(init=False)  # where workers tell of their steps, and the token that says they may
    _token: bytes = field(default_factory=lambda: secrets.token_hex(16).encode(), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # no batch ends while a look holds it
    _batches: list["_WatchedBatch"] = field(default_factory=list)
    _steps: dict[str, tuple[float, str]] = field(default_factory=dict)  # by lane: when it was heard, and what

    def __post_init__(self) -> None:
        """Take a port for what workers tell, and begin to look."""
        family, kind, protocol, _, address = socket.getaddrinfo(self.bind, 0, type=socket.SOCK_DGRAM)[0]
        self._receiver = socket.socket(family, kind, protocol)
        weakref.finalize(self, self._receiver.close)
        self._receiver.bind(address)
        self._receiver.setblocking(False)
        self._address = beacon_address(self.host, self._receiver.getsockname()[1], self._token.decode())
        look_while_held = partial(_watch, weakref.ref(self))
        threading.Thread(target=look_while_held, name="batch-watch", daemon=True).start()

    @contextmanager
    def over(self, number: int, seconds: float | None) -> Iterator[str]:
        """Watch a batch that may take so many seconds; where workers tell of their steps.

        BatchTimeoutError takes the place of what a batch raises that was ended.
        """
        batch = _WatchedBatch(number, seconds)
        self._batches.append(batch)
        try:
            yield self._address
        except RETRIABLE as error:
            if batch.ended:
                raise BatchTimeoutError(batch.ended) from error
            raise
        finally:
            with self._lock:
                self._batches.remove(batch)

    def look_at_batches(self) -> None:
        """See to the batches that run now."""
        with self._lock:
            if not self._batches:
                return
            self._receive()
            running_seconds = [(batch, time.monotonic() - batch.begun) for batch in self._batches]
            if max(seconds for _, seconds in running_seconds) >= PATIENCE_SECONDS:
                self.look()
            for batch, seconds in running_seconds:
                self._look_at(batch, seconds)

    def _look_at(self, batch: "_WatchedBatch", seconds: float) -> None:
        """End a batch whose time is over, once; tell of one that takes long."""
        if batch.ended:
            return
        if batch.seconds is not None and seconds >= batch.seconds:
            batch.ended = f"the batch had not ended after {batch.seconds:g} s{self._at_work(batch)}"
            with suppress(Py4JError, OSError):  # Spark has ended, and so has the batch
                self.cancel()
        elif seconds >= batch.report_at:
            batch.report_at *= 2
            self.slow(f"batch {batch.number} has taken {seconds:.0f} s so far{self._at_work(batch)}")

    def _receive(self) -> None:
        for _ in range(_MOST_DATAGRAMS):  # at a look: who sends more keeps nobody from the end of a batch
            try:
                token, _, content = self._receiver.recv(_MOST_BYTES).partition(b"\n")
            except (BlockingIOError, InterruptedError):
                return
            if not hmac.compare_digest(token, self._token):
                continue  # whoever sent that is no lane
            with suppress(MalformedMessageError, KeyError, TypeError, ValueError, OverflowError):
                self._take_step(parsed_object(content))

    def _take_step(self, report: Mapping[str, Any]) -> None:
        lane, step = str(report["lane"]), str(report["step"])
        text = f"{lane} has been in {step} for {report['seconds']:.0f} s"
        if trouble := report.get("trouble"):
            self.waits(lane, f"{lane} is in {step}: {trouble}")
        self._steps[lane] = time.monotonic(), text

    def _at_work(self, batch: "_WatchedBatch") -> str:
        """The steps that lanes have reported of late, and since the batch began."""
        since = max(batch.begun, time.monotonic() - _FRESH_SECONDS)
        fresh = [text for at, text in self._steps.values() if at >= since]
        return f": {'; '.join(sorted(fresh))}" if fresh else ", and no lane says which operator has it"


@dataclass(slots=True, eq=False)
class _WatchedBatch:
    """A batch that is watched while it runs."""

    number: int
    seconds: float | None  # that it may take
    begun: float = field(default_factory=time.monotonic)
    report_at: float = field(init=False)  # after so many seconds it is told of
    ended: str = ""  # why it was ended, if it was

    def __post_init__(self) -> None:
        """A batch that may take less than is told of is told of in the middle of its time."""
        self.report_at = SLOW_SECONDS if self.seconds is None else min(SLOW_SECONDS, self.seconds / 2)


def _watch(watch: "weakref.ref[BatchWatch]") -> None:
    """Look at the batches of a watch for as long as there is one."""
    while True:
        time.sleep(LOOK_SECONDS)
        batch_watch = watch()
        if batch_watch is None:
            return
        try:
            batch_watch.look_at_batches()
        except Exception:
            _LOG.exception("a look at the batches failed")  # the next one may go well
        del batch_watch


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

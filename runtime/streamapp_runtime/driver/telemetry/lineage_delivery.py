"""Sends events in their order from a thread of its own, so that no batch waits for a receiver."""

from collections.abc import Callable
from queue import Full, Queue
from threading import Event, Thread
from typing import Final, Generic, TypeVar

from streamapp_runtime.driver.telemetry.export_outage import ExportOutage

MOST_PENDING: Final = 100
RETRY_SECONDS: Final = 5.0

E = TypeVar("E")


class EventRefusedError(Exception):
    """The receiver answered, and will not take this event when it is sent again either."""


class LineageDelivery(Generic[E]):
    """A bounded queue of events. One that is not taken is sent again until it is, or until the end."""

    def __init__(self, send: Callable[[E], None], outage: ExportOutage) -> None:
        self._send, self._outage = send, outage
        self._pending: Queue[E | None] = Queue(MOST_PENDING)
        self._closing = Event()
        self._worker = Thread(target=self._work, name="lineage", daemon=True)
        self._worker.start()

    def offer(self, event: E) -> None:
        """Have an event sent; where too many wait, it is lost."""
        try:
            self._pending.put_nowait(event)
        except Full:
            self._outage.failed("too many events wait", lost=1)

    def close(self, seconds: float) -> None:
        """Send what waits, for at most so long."""
        self._closing.set()
        try:
            self._pending.put_nowait(None)
        except Full:
            return  # the receiver has not answered for a hundred events
        self._worker.join(seconds)
        if self._worker.is_alive():
            self._outage.failed("it does not answer")

    def _work(self) -> None:
        while (event := self._pending.get()) is not None:
            while not self._taken(event):
                if self._closing.is_set():
                    return
                self._closing.wait(RETRY_SECONDS)

    def _taken(self, event: E) -> bool:
        """Whether nothing is left to do for an event."""
        try:
            self._send(event)
        except EventRefusedError as refusal:
            self._outage.failed(str(refusal), lost=1)
            return True
        except Exception as error:  # whatever a client or its receiver does, the app continues
            self._outage.failed(type(error).__name__)
            return False
        self._outage.delivered()
        return True

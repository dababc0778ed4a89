"""Tells the driver, while a batch takes long, which step a layer is at.

A datagram now and then, which nobody waits for: where it is lost, the driver says less.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from streamapp_runtime.lanes.batches.step_times import StepTimes
from streamapp_runtime.systems.stream_system import SystemTrouble

SECONDS: Final = 1.0
"""How often a step is told of, once a batch has taken so long."""


def beacon_address(host: str, port: int, token: str) -> str:
    """The address to which a beacon sends, with the token by which its datagrams are known."""
    return f"{host}:{port}/{token}"


class StepBeacon:
    """One thread of a worker; it sleeps while there is no batch, and while steps are quick."""

    def __init__(self, trouble: Callable[[], SystemTrouble | None]) -> None:
        """`trouble` says what keeps a step waiting, where that is the streams' system."""
        self._trouble = trouble
        self._batch: tuple[str, str, StepTimes] | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._send_while_open, name="step-beacon", daemon=True).start()

    @contextmanager
    def during(self, address: str, lane: str, times: StepTimes) -> Iterator[None]:
        """Tell of the steps of a batch; an empty address asks for nothing."""
        self._batch = (address, lane, times) if address else None
        try:
            yield
        finally:
            self._batch = None

    def close(self) -> None:
        """End the thread."""
        self._closed.set()

    def _send_while_open(self) -> None:
        pause = SECONDS
        while not self._closed.wait(pause):
            batch, pause = self._batch, SECONDS
            current = batch[2].current if batch is not None else None
            if batch is None or current is None:
                continue
            step, begun = current
            seconds = time.perf_counter() - begun
            if seconds < SECONDS:
                pause = SECONDS - seconds
                continue
            with suppress(OSError):  # the driver says less, and nothing else depends on it
                self._send(batch[0], {"lane": batch[1], "step": step, "seconds": round(seconds, 1)})

    def _send(self, address: str, message: dict[str, object]) -> None:
        at, _, token = address.rpartition("/")
        host, _, port = at.rpartition(":")
        family, kind, protocol, _, place = socket.getaddrinfo(host, int(port), type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as sender:
            trouble = self._trouble()
            message |= {"trouble": trouble.text} if trouble else {}
            sender.sendto(f"{token}\n{json.dumps(message)}".encode(), place)

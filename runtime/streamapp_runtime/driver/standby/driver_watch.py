"""The watch of a standby over the driver that works: the standby says so when the driver does not answer.

The standby asks what the kubelet asks, and notices a lost node half a minute before Kubernetes does. A driver
that has never answered it is not judged: its port may be closed to the standby.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from threading import Event, Thread
from typing import Any, Final

from streamapp.protocol.message_names import LIVENESS_PATH
from streamapp_runtime.driver.executors.executor_locations import Pods
from streamapp_runtime.driver.standby.hand_over import incarnation_of
from streamapp_runtime.transport.kubernetes_api import API_ERRORS

ASK_SECONDS: Final = 2.0
"""How often the driver is asked, and how long an answer may take."""
FAILED_ASKS: Final = 3
"""So many questions in a row without a good answer make a driver silent, as with the kubelet's probes."""
_HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class RunningDriver:
    """The driver that works."""

    pod: str
    address: str


@dataclass(slots=True)
class DriverWatch:
    """The watch of one standby."""

    drivers: Pods  # the pods of the app's drivers
    incarnation: int  # of this standby
    port: int  # at which drivers answer
    tell: Callable[[str], None]  # is given the pod of a silent driver; an empty name once none is silent
    ask_seconds: float = ASK_SECONDS
    _driver: RunningDriver | None = None
    _has_answered: bool = False
    _failed_asks: int = 0
    _told_driver: str = ""

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Ask while this lasts. Its end waits for no answer."""
        done = Event()
        Thread(target=self._watch, args=(done,), name="driver-watch", daemon=True).start()
        try:
            yield
        finally:
            done.set()

    def _watch(self, done: Event) -> None:
        while not done.is_set():
            next_ask = time.monotonic() + self.ask_seconds
            silent_driver = self._ask()
            if silent_driver != self._told_driver and not done.is_set():
                self._tell(silent_driver)
            done.wait(max(0.0, next_ask - time.monotonic()))

    def _ask(self) -> str:
        """Ask once; gives the driver's pod, if the driver is silent."""
        if self._driver is None or self._failed_asks:
            self._find_driver()
        if self._driver is None:
            return ""
        if is_answered(self._driver.address, self.port, self.ask_seconds):
            self._has_answered, self._failed_asks = True, 0
            return ""
        self._failed_asks += 1
        return self._driver.pod if self._has_answered and self._failed_asks >= FAILED_ASKS else ""

    def _find_driver(self) -> None:
        """Find the driver that works, which may be another one than before."""
        try:
            driver = running_driver(self.drivers(), self.incarnation)
        except API_ERRORS:
            return  # this standby is cut off itself, and cannot tell anybody
        if driver != self._driver:
            self._driver, self._has_answered, self._failed_asks = driver, False, 0

    def _tell(self, silent_driver: str) -> None:
        try:
            self.tell(silent_driver)
        except API_ERRORS:
            return  # it is told after the next question
        self._told_driver = silent_driver


def running_driver(pods: list[dict[str, Any]], before: int) -> RunningDriver | None:
    """The newest driver before a standby whose container runs; None where there is none."""
    running_pods = [
        pod
        for pod in pods
        if incarnation_of(pod) < before
        and (pod.get("status") or {}).get("phase") == "Running"
        and pod["status"].get("podIP")
    ]
    newest = max(running_pods, key=incarnation_of, default=None)
    return RunningDriver(newest["metadata"]["name"], newest["status"]["podIP"]) if newest else None


def is_answered(address: str, port: int, seconds: float) -> bool:
    """True if a driver answers that it makes progress. No proxy stands between pods."""
    connection = HTTPConnection(address, port, timeout=seconds)
    try:
        connection.request("GET", LIVENESS_PATH)
        return connection.getresponse().status == _HTTP_OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()

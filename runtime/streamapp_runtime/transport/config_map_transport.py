"""Messages as ConfigMaps: one that the operator writes and the driver watches, one that the driver patches.

Both go on beside the batches: an API server that is slow or away holds up nothing. What could not be told is
told when it is back, and only the newest of it.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any, TypeVar

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted
from streamapp.protocol.driver_report import Report
from streamapp.protocol.message_frame import MessageTooLargeError
from streamapp.protocol.message_names import ACCEPTED, REPORT, WANTED
from streamapp.protocol.report_codec import encode_report
from streamapp.protocol.wanted_state import WantedState, decode_wanted
from streamapp_runtime.transport.kubernetes_api import API_ERRORS, KubernetesApi

T = TypeVar("T")
SOON, LATEST = 0.5, 15.0
"""Seconds before a call that failed is made again, at first and at last."""
FLUSH_SECONDS = 5.0


@dataclass(slots=True)
class ConfigMapTransport:
    """The driver's end."""

    server: KubernetesApi
    wanted_name: str
    report_name: str
    trouble: Callable[[str], None] = lambda _: None
    _wanted: WantedState | None = None
    _accepted: AcceptedApp | None = None
    _text: str = ""  # the newest report
    _told: str = ""  # the last one that arrived
    _closed: bool = False
    _news: Condition = field(default_factory=Condition)

    def begin(self) -> None:
        """Watch and report from now on."""
        for work in (self._watch, self._write):
            Thread(target=self._again_and_again, args=(work,), daemon=True).start()

    def wanted(self) -> WantedState | None:
        """What is wanted now, as far as it is known."""
        return self._wanted

    def accepted(self) -> AcceptedApp | None:
        """The newest accepted generation, which lies beside what is wanted."""
        return self._accepted

    def report(self, report: Report) -> None:
        """Have it told, if it says anything new."""
        try:
            text = encode_report(report)
        except MessageTooLargeError as error:
            self.trouble(str(error))
            return
        with self._news:
            self._text = text
            self._news.notify_all()

    def close(self) -> None:
        """Tell what is not told yet, if that can be done soon."""
        deadline = time.monotonic() + FLUSH_SECONDS
        with self._news:
            while self._told != self._text and self._news.wait(max(0.0, deadline - time.monotonic())):
                pass
            self._closed = True
            self._news.notify_all()

    def _again_and_again(self, work: Callable[[], None]) -> None:
        pause = SOON
        while not self._closed:
            try:
                work()
                pause = SOON
            except API_ERRORS as error:
                self.trouble(f"the API server: {error}")
                with self._news:
                    self._news.wait_for(lambda: self._closed, pause)
                pause = min(2 * pause, LATEST)

    def _watch(self) -> None:
        found = self.server.config_map(self.wanted_name)
        self._take(found)
        for changed in self.server.changes(self.wanted_name, found["metadata"]["resourceVersion"]):
            self._take(changed)

    def _take(self, found: dict[str, Any]) -> None:
        data: dict[str, str] = found.get("data") or {}
        self._accepted = self._read(data, ACCEPTED, decode_accepted) or self._accepted
        self._wanted = self._read(data, WANTED, decode_wanted) or self._wanted

    def _read(self, data: dict[str, str], name: str, decode: Callable[[str], T]) -> T | None:
        if name not in data:
            return None
        try:
            return decode(data[name])
        except UnreadableError as error:
            self.trouble(str(error))
            return None

    def _write(self) -> None:
        with self._news:
            self._news.wait_for(lambda: self._closed or self._text != self._told)
            text = self._text
        if text == self._told:
            return
        self.server.patch(self.report_name, {REPORT: text})
        with self._news:
            self._told = text
            self._news.notify_all()

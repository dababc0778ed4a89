"""Messages as ConfigMaps: one that the operator writes and the driver watches, one that the driver patches.

Both run beside the batches: a slow or unavailable API server holds up nothing. When the server is back, only
the newest report is sent.
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
from streamapp.protocol.message_names import ACCEPTED, CANDIDATE, INCARNATION, REPORT, WANTED
from streamapp.protocol.report_codec import encode_report
from streamapp.protocol.wanted_state import WantedState, decode_wanted
from streamapp_runtime.transport.kubernetes_api import API_ERRORS, KubernetesApi

T = TypeVar("T")
SOON, LATEST = 0.5, 15.0
"""Seconds before a call that failed is made again, at first and at last."""
FLUSH_SECONDS = 5.0
RESEND_SECONDS = 60.0
"""After this time a report is sent again, though it says the same: somebody may have deleted it. A patch that
changes nothing is not written."""


@dataclass(slots=True)
class ConfigMapTransport:
    """The driver's end."""

    api: KubernetesApi
    wanted_name: str
    report_name: str
    trouble: Callable[[str], None] = lambda _: None
    redact: Callable[[str], str] = lambda text: text  # what a message may not repeat is taken out
    resend_seconds: float = RESEND_SECONDS
    _wanted: WantedState | None = None
    _incarnation: int = 0
    _accepted: AcceptedApp | None = None
    _candidate: AcceptedApp | None = None
    _report: Report | None = None  # the newest one
    _text: str = ""  # the same as it is sent
    _sent: str = ""  # the last report that arrived
    _closed: bool = False
    _changed: Condition = field(default_factory=Condition)

    def begin(self) -> None:
        """Watch and report from now on."""
        for work in (self._watch, self._write):
            Thread(target=self._repeat, args=(work,), daemon=True).start()

    def wanted(self) -> WantedState | None:
        """The state that is wanted now, as far as it is known."""
        return self._wanted

    def incarnation(self) -> int:
        """The incarnation of the driver for which the wanted state was published."""
        return self._incarnation

    def accepted(self) -> AcceptedApp | None:
        """The newest accepted generation, which lies beside what is wanted."""
        return self._accepted

    def candidate(self) -> AcceptedApp | None:
        """The generation that the driver is asked about."""
        return self._candidate

    def report(self, report: Report) -> None:
        """Send a report that differs from the last one."""
        if report == self._report:
            return
        self._report = report
        try:
            text = encode_report(report.redacted(self.redact))
        except MessageTooLargeError as error:
            self.trouble(str(error))
            return
        with self._changed:
            self._text = text
            self._changed.notify_all()

    def close(self) -> None:
        """Send the newest report, if the API server accepts it soon."""
        deadline = time.monotonic() + FLUSH_SECONDS
        with self._changed:
            while self._sent != self._text and self._changed.wait(max(0.0, deadline - time.monotonic())):
                pass
            self._closed = True
            self._changed.notify_all()

    def _repeat(self, work: Callable[[], None]) -> None:
        pause = SOON
        while not self._closed:
            try:
                work()
                pause = SOON
            except API_ERRORS as error:
                self.trouble(f"the API server: {error}")
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, pause)
                pause = min(2 * pause, LATEST)

    def _watch(self) -> None:
        config_map = self.api.config_map(self.wanted_name)
        self._read_config_map(config_map)
        for changed_map in self.api.changes(self.wanted_name, config_map["metadata"]["resourceVersion"]):
            self._read_config_map(changed_map)

    def _read_config_map(self, config_map: dict[str, Any]) -> None:
        data: dict[str, str] = config_map.get("data") or {}
        self._accepted = self._read(data, ACCEPTED, decode_accepted) or self._accepted
        self._candidate = self._read(data, CANDIDATE, decode_accepted)
        self._wanted = self._read(data, WANTED, decode_wanted) or self._wanted
        incarnation = (config_map["metadata"].get("annotations") or {}).get(INCARNATION, "")
        if incarnation.isdecimal():
            self._incarnation = int(incarnation)

    def _read(self, data: dict[str, str], name: str, decode: Callable[[str], T]) -> T | None:
        if name not in data:
            return None
        try:
            return decode(data[name])
        except UnreadableError as error:
            self.trouble(str(error))
            return None

    def _write(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._text != self._sent, self.resend_seconds)
            text = self._text
        if not text or (self._closed and text == self._sent):
            return
        self.api.patch(self.report_name, {REPORT: text})
        with self._changed:
            self._sent = text
            self._changed.notify_all()

"""Warnings about a receiver that does not take what it is sent: one when that begins, one when it ends."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import urlsplit

from streamapp_runtime.redacted_output import redacted


@dataclass(slots=True)
class ExportOutage:
    """The state of a receiver: it takes what it is sent, or does not. Called from the threads that send."""

    what: str  # that is sent
    endpoint: str
    warn: Callable[[str], None]
    _failing: bool = False
    _lost: int = 0  # since the outage began
    _lock: Lock = field(default_factory=Lock)

    def failed(self, reason: str, lost: int = 0) -> None:
        """Note that it did not, and how much of it will not be sent again."""
        with self._lock:
            self._lost += lost
            began, self._failing = not self._failing, True
        if began:
            self.warn(redacted(f"{self.what} do not reach {self._host}: {reason}; the app continues without"))

    def delivered(self) -> None:
        """Note that it did."""
        with self._lock:
            ended, self._failing = self._failing, False
            lost, self._lost = self._lost, 0
        if ended:
            self.warn(f"{self.what} reach {self._host} again; {lost or 'none'} were lost")

    @property
    def _host(self) -> str:
        """The endpoint without what may be secret in it: user, password, query."""
        url = urlsplit(self.endpoint)
        return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"

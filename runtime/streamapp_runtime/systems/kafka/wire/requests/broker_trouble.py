"""The trouble with brokers that keeps a process's calls, for other threads to see while a call continues."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from streamapp_runtime.systems.stream_system import SystemTrouble

_FRESH_SECONDS = 3.0
"""What was noted before does not hold any more: whoever waits notes it more often."""
_LEAST_SECONDS = 2.0
"""A trouble that is over sooner is none: leaders and coordinators move."""


@dataclass(slots=True)
class BrokerTrouble:
    """The last trouble of the clients of one cluster; calls note it as long as they wait."""

    clock: Callable[[], float] = time.monotonic
    _noted: SystemTrouble | None = None
    _since: float = 0.0
    throttled_seconds: float = 0.0
    """The seconds for which quotas have kept calls so far."""

    def note(self, why: object) -> None:
        """Note that a call is kept from going on, and by what."""
        now = self.clock()
        if self._noted is None or now - self._noted.noted > _FRESH_SECONDS:
            self._since = now
        self._noted = SystemTrouble(str(why), now)

    def note_throttled(self, seconds: float) -> None:
        """Note that a quota has kept a call."""
        self.throttled_seconds += seconds

    @property
    def lasting(self) -> SystemTrouble | None:
        """The trouble that has kept calls for a while and does so now."""
        noted = self._noted
        if noted is None or self.clock() - noted.noted > _FRESH_SECONDS:
            return None
        return noted if noted.noted - self._since >= _LEAST_SECONDS else None

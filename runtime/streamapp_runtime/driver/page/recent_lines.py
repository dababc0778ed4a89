"""The last lines that a run has written of itself, for its page."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.driver.reporting.run_messages import RunMessage
from streamapp_runtime.redacted_output import redacted

MOST_LINES: Final = 100
LONGEST_LINE: Final = 2_000


@dataclass(slots=True)
class RecentLines:
    """The lines; written by the threads of the driver, read by those of viewers."""

    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_LINES))

    def kept(self, write: Callable[[RunMessage], None]) -> Callable[[RunMessage], None]:
        """The same way to write messages, which are remembered too."""

        def write_and_keep(message: RunMessage) -> None:
            self.add(message, time.time())
            write(message)

        return write_and_keep

    def add(self, message: RunMessage, at: float) -> None:
        """Remember a message; one that is soon followed by another of its kind as well."""
        clock = time.strftime("%H:%M:%S", time.gmtime(at))
        self._lines.append(f"{clock} {message.level:5} {redacted(message.text)[:LONGEST_LINE]}")

    def text(self) -> str:
        """From the oldest to the newest."""
        return "".join(f"{line}\n" for line in tuple(self._lines))

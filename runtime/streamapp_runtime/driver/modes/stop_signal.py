"""The wish to end, made by a signal and looked for between batches."""

import os
import signal
import sys
from dataclasses import dataclass, field
from types import FrameType

from streamapp_runtime.driver.reporting.run_observer import RunObserver
from streamapp_runtime.driver.standby.hand_over import HandOver
from streamapp_runtime.driver.wake_up import WakeUp

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class SignalStop(RunObserver):
    """Set once, for ever. A plain flag: a lock that a signal's handler needed might be held just then."""

    wanted: bool = False
    hand_over: HandOver | None = None  # what a driver under an operator waits for before it ends
    ends_start: bool = False  # whether the first signal ends a start, which may take long, where it stands
    wake: WakeUp = field(default_factory=WakeUp)  # ends a wait before its time
    _launched: bool = False

    def is_set(self) -> bool:
        """True if the run is to end."""
        if not self.wanted or self.hand_over is None or not self._launched:
            return self.wanted
        return self.hand_over.is_over()

    def on_signals(self) -> None:
        """Be set by the first signal; the second ends the process where it stands.

        Nothing is lost then: what was not committed is as if it had not been begun. Spark's JVM reads a pipe
        of this process and ends with it.
        """

        def handle(number: int, _: FrameType | None) -> None:
            if self.ends_start and not self._launched:
                os.write(sys.stderr.fileno(), b"interrupted: nothing has run\n")
                os._exit(128 + number)
            if self.wanted:
                os._exit(128 + number)
            self.wanted = True
            self.wake.set()

        for number in SIGNALS:
            signal.signal(number, handle)

    def launched(self, _: object) -> None:
        """From now on the first signal lets the batch end."""
        self._launched = True

    def wait(self, timeout: float) -> None:
        """Let time pass, until a signal comes or somebody wakes up the run."""
        self.wake.rest(timeout)


class StoppedError(Exception):
    """The run was told to end before it had begun."""

"""Noted interrupts of a run: Python ignores one that is raised in a destructor, such as py4j's."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import current_thread, main_thread
from types import FrameType


@dataclass(slots=True)
class RunInterrupt:
    """The flag that somebody has interrupted a run."""

    is_set: bool = False

    def check(self) -> None:
        """KeyboardInterrupt where there was one."""
        if self.is_set:
            raise KeyboardInterrupt

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note interrupts while this lasts; only the main thread receives any."""
        if current_thread() is not main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.is_set = True
        raise KeyboardInterrupt

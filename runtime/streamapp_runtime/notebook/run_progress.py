"""The progress of a run in a notebook, in one place that is updated; elsewhere nothing is shown."""

import sys
import time
from dataclasses import dataclass, field
from typing import Any, Final

from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.notebook.run_interrupt import RunInterrupt

_INTERVAL: Final = 0.2  # seconds between two updates


class DisplayedText:
    """A line as Jupyter displays it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


@dataclass(slots=True)
class RunProgress:
    """Rows read, their rate and the lag of a run."""

    name: str
    is_shown: bool
    interrupt: RunInterrupt
    rows: int = 0
    lag: int = 0
    batches: int = 0
    _began: float = field(default_factory=time.monotonic)
    _shown_at: float = 0.0
    _handle: Any = None

    def batch_done(self, batch: BatchResult) -> None:
        """Count a batch, and show it now and then."""
        self.interrupt.check()
        self.rows += sum(batch.read.values())
        self.lag = batch.lag
        self.batches += 1
        if time.monotonic() - self._shown_at >= _INTERVAL:
            self.show()

    def show(self, note: str = "") -> None:
        """Show the progress, with a note on what is going on."""
        if not self.is_shown or not _in_notebook():
            return
        from IPython.display import display

        self._shown_at = time.monotonic()
        line = DisplayedText(self._line(note))
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)

    @property
    def counts(self) -> str:
        """The number of rows that were read, and of their batches."""
        return f"{self.rows:,} rows in {self.batches:,} batch{'es' if self.batches != 1 else ''}"

    def _line(self, note: str) -> str:
        seconds = time.monotonic() - self._began
        rate = f", {self.rows / seconds:,.0f} rows/s" if seconds >= 1 else ""  # it says nothing of a moment
        return f"{self.name}: {self.counts}{rate}, lag {self.lag:,}{note and f'; {note}'}"


def _in_notebook() -> bool:
    """True if this process is the kernel of a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")

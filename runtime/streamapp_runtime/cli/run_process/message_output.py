"""Output of a run's messages: lines, JSON, or one line of a terminal that is rewritten."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from streamapp.cli.app_table.table_screen import is_screen
from streamapp_runtime.driver.reporting.progress_log import LATER, SOON
from streamapp_runtime.driver.reporting.run_messages import RunMessage

REWRITE_SECONDS = 0.2
"""Seconds between two passing messages on a terminal, where a message replaces the one before."""
CLEAR_LINE = "\r\x1b[K"


@dataclass(slots=True)
class TerminalOutput:
    """Writes messages for people; where it rewrites, a passing message replaces the one before."""

    stream: TextIO
    rewrites: bool
    _rewritable: bool = False

    def write(self, message: RunMessage) -> None:
        """Write a message."""
        rewrite = message.passing and self.rewrites
        line = message.text
        if rewrite:
            line = (message.short or message.text)[: shutil.get_terminal_size().columns - 1]
        self.stream.write(CLEAR_LINE * self._rewritable + line + "\n" * (not rewrite))
        self.stream.flush()
        self._rewritable = rewrite


def write_json(stream: TextIO, message: RunMessage) -> None:
    """Write a message as a JSON line."""
    stream.write(message.as_json() + "\n")
    stream.flush()


def message_output(quiet: bool, log_format: str) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    """The function that writes messages, and the seconds between two messages, at first and later."""
    periods = (SOON, LATER)
    if quiet:
        return (lambda _: None), periods
    if log_format == "json":
        return partial(write_json, sys.stderr), periods
    rewrites = is_screen(sys.stderr)
    return TerminalOutput(sys.stderr, rewrites).write, (
        (REWRITE_SECONDS, REWRITE_SECONDS) if rewrites else periods
    )

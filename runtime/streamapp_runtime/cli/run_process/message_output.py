"""Where a run's words go: lines, JSON, or on a terminal one line that is written over and over."""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TextIO

from streamapp_runtime.driver.reporting.progress_log import LATER, SOON
from streamapp_runtime.driver.reporting.run_messages import RunMessage

REWRITE_SECONDS = 0.2
"""Seconds between two passing words on a terminal, where they take no room."""
CLEAR_LINE = "\r\x1b[K"


@dataclass(slots=True)
class TerminalOutput:
    """Says words to a person; passing ones stand in one line where there is a terminal."""

    stream: TextIO
    _passing: bool = False

    def say(self, word: RunMessage) -> None:
        """Say a word."""
        rewrite = word.passing and self.stream.isatty()
        line = word.text[: shutil.get_terminal_size().columns - 1] if rewrite else word.text
        self.stream.write(CLEAR_LINE * self._passing + line + "\n" * (not rewrite))
        self.stream.flush()
        self._passing = rewrite


def write_json(stream: TextIO, word: RunMessage) -> None:
    """Say a word to a machine."""
    stream.write(word.as_json() + "\n")
    stream.flush()


def message_output(quiet: bool, log_format: str) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    """What says words, and how many seconds lie between two, at first and later."""
    periods = (SOON, LATER)
    if quiet:
        return (lambda _: None), periods
    if log_format == "json":
        return partial(write_json, sys.stderr), periods
    return TerminalOutput(sys.stderr).say, (
        REWRITE_SECONDS,
        REWRITE_SECONDS,
    ) if sys.stderr.isatty() else periods

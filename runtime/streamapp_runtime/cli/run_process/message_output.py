"""Output of a run's messages: lines, JSON, or one line of a terminal that is rewritten."""

import logging
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TextIO

from streamapp.cli.app_table.table_screen import is_screen
from streamapp.protocol.termination import RunOutcome
from streamapp.spec.log_levels import LogLevel
from streamapp_runtime.cli.run_process.run_end import RunEnd
from streamapp_runtime.driver.reporting.progress_log import LATER, SOON
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from streamapp_runtime.log_lines.line_format import FACTS
from streamapp_runtime.log_lines.python_logging import LEVELS

REWRITE_SECONDS = 0.2
"""Seconds between two passing messages on a terminal, where a message replaces the one before."""
_LOGGER: Final = logging.getLogger("streamapp.driver")
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


def log_message(message: RunMessage) -> None:
    """Log a message as a line of the driver, with its facts."""
    _LOGGER.log(LEVELS[message.level], "%s", message.text, extra={FACTS: message.facts})


def log_end(run_end: RunEnd) -> None:
    """Log how a run ended: each problem, and last the outcome."""
    for problem in run_end.problems:
        facts: dict[str, object] = {"event": "problem", "reason": problem.reason, "path": problem.path}
        log_message(RunMessage(str(problem), facts, level="error"))
    ending = run_end.ending
    facts = {"event": "outcome", "outcome": ending.outcome, "reason": ending.reason, "path": ending.path}
    is_done = ending.outcome is RunOutcome.DONE
    log_message(
        RunMessage(ending.message or "the run has ended", facts, level="info" if is_done else "error")
    )


def message_output(
    quiet: bool, log_format: str, level: LogLevel = "info"
) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    """The function that writes messages of a level or above, and the seconds between two of them."""
    write, periods = _message_output(quiet, log_format)
    least = LEVELS[level]
    return (lambda message: write(message) if LEVELS[message.level] >= least else None), periods


def _message_output(quiet: bool, log_format: str) -> tuple[Callable[[RunMessage], None], tuple[float, float]]:
    periods = (SOON, LATER)
    if quiet:
        return (lambda _: None), periods
    if log_format == "json":
        return partial(write_json, sys.stderr), periods
    rewrites = is_screen(sys.stderr)
    return TerminalOutput(sys.stderr, rewrites).write, (
        (REWRITE_SECONDS, REWRITE_SECONDS) if rewrites else periods
    )

"""The output of Spark's JVM, of its Python workers and of pyspark, and its destination.

A run on a terminal keeps it in a file, and shows only what is no error output: what went wrong, the run says
itself in one sentence. Without a file everything goes to standard error.
"""

import logging
import sys
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final

from pyspark.logger import PySparkLogger

_NOISE_LINES: Final = (
    "WARNING: Using incubator modules",
    "WARNING: package sun.security.action not in java.base",  # Java 24 and later, of Spark's own options
)
"""What the JVM says before any setting is read."""
_QUERY_LOGGERS: Final = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark that write each failure of an expression once more, with its stack, as JSON."""
_TRACEBACK: Final = "Traceback (most recent call last):"
_ERROR_STARTS: Final = (
    *("spark: ", "Fatal Python error", "Exception in thread", "Exception ignored in"),
    *("Current thread 0x", "Thread 0x", "Extension modules: "),
    *("During handling of the above exception", "The above exception was the direct cause"),
)
"""How lines begin that are error output; indented lines behind them belong to them."""


@dataclass(slots=True)
class ErrorLines:
    """Tells the lines of error output, such as tracebacks, from the lines that the app's code prints."""

    _open_tracebacks: int = 0  # workers write at the same time, and their lines mix
    _in_error: bool = False

    def holds(self, line: str) -> bool:
        """True if this line, the next one of the output, is error output."""
        if line.startswith(_TRACEBACK):
            self._open_tracebacks += 1
        elif line[:1] in {" ", "\t"}:
            return self._in_error
        elif self._open_tracebacks:  # the line that names the exception is the last of a traceback
            self._open_tracebacks -= 1
        else:
            self._in_error = line.startswith(_ERROR_STARTS)
            return self._in_error
        self._in_error = True
        return True


@dataclass(slots=True)
class SparkOutput:
    """The output of one process's Spark. Threads write to it."""

    file: Path | None = None  # made with the first line
    written: bool = False  # whether the file has anything of this run
    _muted: bool = False
    _error_lines: ErrorLines = field(default_factory=ErrorLines)
    _lock: Lock = field(default_factory=Lock)

    def keep_in(self, file: Path) -> None:
        """From now on keep everything in this file, in place of what an earlier run has left there."""
        with self._lock:
            self.file, self.written, self._error_lines = file, False, ErrorLines()
        for name in _QUERY_LOGGERS:
            logger = PySparkLogger.getLogger(name)
            logger.handlers.clear()
            logger.addHandler(_QueryErrors(self))

    def mute(self, muted: bool) -> None:
        """Keep nothing while muted: what is still at work when Spark ends says that it was cut off."""
        self._muted = muted

    def write(self, line: str) -> None:
        """Take a line with its end."""
        if self._muted or not line.strip() or line.startswith(_NOISE_LINES):
            return
        with self._lock:
            if self.file is not None:
                self._append(self.file, line)
                if self._error_lines.holds(line):
                    return
            sys.stderr.write(line)
            sys.stderr.flush()

    def keep(self, text: str) -> None:
        """Take what only the file is to hold."""
        with self._lock:
            if self.file is not None and not self._muted:
                self._append(self.file, text)

    def _append(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a" if self.written else "w", encoding="utf-8") as opened:
            opened.write(text)
        self.written = True


class _QueryErrors(logging.Handler):
    """Keeps records of pyspark's loggers in the file."""

    def __init__(self, output: SparkOutput) -> None:
        super().__init__()
        self.output = output

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record."""
        self.output.keep(self.format(record) + "\n")


SPARK_OUTPUT: Final = SparkOutput()
"""Of this process, which has one JVM."""

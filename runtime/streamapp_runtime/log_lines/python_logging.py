"""The logging of a Python process of an app: of StreamApp, of libraries, and of the app's own code."""

import atexit
import logging
import sys
import threading
from dataclasses import dataclass
from typing import Any, Final, TextIO

from streamapp.protocol.log_settings import LogSettings
from streamapp.spec.log_levels import LogLevel
from streamapp_runtime.log_lines.line_format import LineFormatter
from streamapp_runtime.log_lines.line_labels import LINE_LABELS, ProcessRole
from streamapp_runtime.log_lines.printed_lines import PrintedLines

LEVELS: Final[dict[LogLevel, int]] = {
    "trace": logging.DEBUG,
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
    "fatal": logging.CRITICAL,
}
QUIET_LOGGERS: Final = {"py4j": logging.WARNING}
"""Levels of loggers that write a line for each call between Python and the JVM, unless an app names them."""


@dataclass(frozen=True, slots=True)
class ProcessLogging:
    """The logging of one process of an app."""

    settings: LogSettings
    app: str  # the application id
    role: ProcessRole
    takes_prints: bool = True  # whether what is printed becomes log lines too

    def begin(self) -> None:
        """From now on all that Python logs here is a line on standard error."""
        LINE_LABELS.app, LINE_LABELS.role = self.app, self.role
        root = logging.getLogger()
        root.handlers[:] = [self._handler(sys.stderr)]
        root.setLevel(LEVELS[self.settings.level])
        levels = QUIET_LOGGERS | {name: LEVELS[level] for name, level in self.settings.loggers}
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        logging.captureWarnings(capture=True)
        sys.excepthook = _log_uncaught
        threading.excepthook = lambda args: _log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)
        for name in ("stdout", "stderr") if self.takes_prints else ():
            self._take_prints(name)

    def _take_prints(self, name: str) -> None:
        stream: TextIO = getattr(sys, name)
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [self._handler(stream)], False
        logger.setLevel(logging.DEBUG)  # nobody has given what is printed a level that could be too low
        printed = PrintedLines(stream, logger, self.settings.format)
        setattr(sys, name, printed)
        atexit.register(printed.close_lines)

    def _handler(self, stream: TextIO) -> logging.Handler:
        handler = logging.StreamHandler(stream)
        handler.setFormatter(LineFormatter(self.settings.format, LINE_LABELS))
        return handler


def _log_uncaught(kind: Any, error: Any, stack: Any) -> None:
    if not issubclass(kind, SystemExit | KeyboardInterrupt):
        logging.getLogger("streamapp").error("nothing handled an error", exc_info=(kind, error, stack))

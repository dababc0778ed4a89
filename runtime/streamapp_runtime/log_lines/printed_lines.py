"""Output that is printed in place of being logged: each line becomes a log record, a whole traceback one."""

import logging
from collections.abc import Iterable
from threading import RLock
from typing import Any, Final, TextIO

from streamapp.protocol.log_settings import LogFormat
from streamapp_runtime.log_lines.line_format import TRACEBACK, is_log_line

_MOST_PENDING: Final = 65_536


class PrintedLines:
    """A text stream in the place of standard output or error, whose lines a logger takes.

    A line of another process of the app that has the format already goes on as it is.
    """

    def __init__(self, stream: TextIO, logger: logging.Logger, log_format: LogFormat) -> None:
        self._stream, self._logger, self._log_format = stream, logger, log_format
        self._pending, self._traceback, self._lock = "", list[str](), RLock()

    def write(self, text: str) -> int:
        """Take a text; what follows the last end of a line waits for more."""
        with self._lock:
            *lines, self._pending = (self._pending + text).split("\n")
            for line in lines:
                self._take(line)
            if len(self._pending) > _MOST_PENDING:
                self._take_pending()
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Take several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """A line without its end stays pending: half of one is no log line."""
        self._stream.flush()

    def close_lines(self) -> None:
        """Log what is pending: nothing comes any more."""
        with self._lock:
            self._take_pending()
            self._end_traceback()

    def _take_pending(self) -> None:
        pending, self._pending = self._pending, ""
        self._take(pending)

    def _take(self, line: str) -> None:
        if self._traceback:
            self._traceback.append(line)
            if line[:1] not in {" ", "\t"}:  # the line that names the exception is the last one
                self._end_traceback()
        elif line.startswith(TRACEBACK):
            self._traceback.append(line)
        elif is_log_line(line, self._log_format):
            self._stream.write(line + "\n")
            self._stream.flush()
        elif line.strip():
            self._logger.info("%s", line)

    def _end_traceback(self) -> None:
        lines, self._traceback = self._traceback, []
        if lines:
            self._logger.error("%s", "\n".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

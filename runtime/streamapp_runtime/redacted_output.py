"""The standard output, standard error and errors of a process, without the values of Secrets.

What goes past Python's streams is not seen: C libraries that write to file descriptors, and other processes.
"""

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, Final, TextIO

from streamapp.spec.redaction import redaction_of

_MOST_PENDING: Final = 65_536


class RedactedStream:
    """A text stream that is written line by line, so that a value is seen whole."""

    def __init__(self, stream: TextIO, redact: Callable[[str], str]) -> None:
        self.redact = redact
        self._stream, self._pending, self._lock = stream, "", RLock()

    def write(self, text: str) -> int:
        """Take a text; what follows the last end of a line waits for more."""
        with self._lock:
            lines, end, self._pending = (self._pending + text).rpartition("\n")
            self._stream.write(self.redact(lines + end))
            if len(self._pending) > _MOST_PENDING:
                self._write_pending()
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Take several texts."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Write what is pending as well."""
        with self._lock:
            self._write_pending()
            self._stream.flush()

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, ""
        self._stream.write(self.redact(pending))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class RedactedError(Exception):
    """An error whose text had the value of a Secret: its class and its stack as text, without the value."""


_redactions: list[Callable[[str], str]] = []
"""Of this process: at most one."""


def redact_output(values: Iterable[str]) -> None:
    """From now on, let nothing that this process writes or raises repeat a value."""
    texts = tuple(values)
    if not texts and not _redactions:
        return
    redact = redaction_of(texts)
    _redactions[:] = [redact]
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, RedactedStream):
            stream.redact = redact
        else:
            setattr(sys, name, RedactedStream(stream, redact))


def redacted(text: str) -> str:
    """A text without the values that this process may not repeat."""
    return _redactions[0](text) if _redactions else text


@contextmanager
def redacted_errors() -> Iterator[None]:
    """Around what may raise an error that leaves this process: one that repeats a value becomes text."""
    try:
        yield
    except Exception as error:
        text = "".join(traceback.format_exception(error))
        without = redacted(text)
        if without == text:
            raise
        raise RedactedError(without) from None

"""Log lines as JSON, each with the app, generation and reconcile of its context."""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_subject: ContextVar[dict[str, object] | None] = ContextVar("subject", default=None)
_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


@contextmanager
def log_context(**subject: object) -> Iterator[None]:
    """Add these fields to every log line within the block."""
    token = _subject.set({name: value for name, value in subject.items() if value is not None})
    try:
        yield
    finally:
        _subject.reset(token)


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; the plain values among the `extra` fields become fields of the object."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        } | (_subject.get() or {})
        line |= {
            name: value
            for name, value in vars(record).items()
            if name not in _KNOWN and isinstance(value, str | int | float | bool)
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logging(level: int) -> None:
    """Log to standard error as JSON; libraries log warnings and errors only."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("streamapp_operator").setLevel(level)

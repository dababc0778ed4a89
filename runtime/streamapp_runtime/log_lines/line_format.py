"""The format of a log record as a line: a JSON object with the field names of ECS, or text.

ECS, the Elastic Common Schema, is what Log4j's own layout for JSON writes in the JVMs of the same app.
"""

import json
import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from streamapp.protocol.log_settings import LogFormat
from streamapp_runtime.log_lines.line_labels import LineLabels
from streamapp_runtime.redacted_output import redacted

ECS_VERSION: Final = "1.2.0"
"""That of Log4j's layout."""
FACTS: Final = "facts"
"""The attribute of a record with what is beside its message: an action, and values by name."""
_JSON_START: Final = '{"@timestamp":'
_TEXT_START: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
)
_LEVEL_NAMES: Final = {logging.WARNING: "WARN", logging.CRITICAL: "FATAL"}
TRACEBACK: Final = "Traceback (most recent call last):"


def is_log_line(line: str, log_format: LogFormat) -> bool:
    """True if another process of the app has made a line of this format of it already."""
    return line.startswith(_JSON_START) if log_format == "json" else _TEXT_START.match(line) is not None


class LineFormatter(logging.Formatter):
    """Formats records in one of the two formats, with the labels of the process."""

    def __init__(self, log_format: LogFormat, labels: LineLabels) -> None:
        super().__init__()
        self.log_format, self.labels = log_format, labels

    def format(self, record: logging.LogRecord) -> str:
        """One line without values of Secrets; as text, a stack follows on lines of its own."""
        return redacted(self._as_json(record) if self.log_format == "json" else self._as_text(record))

    def _as_json(self, record: logging.LogRecord) -> str:
        message, stack = _message_and_stack(self, record)
        line: dict[str, object] = {
            "@timestamp": _time(record),
            "ecs.version": ECS_VERSION,
            "log.level": _level_name(record),
            "message": message,
            "process.thread.name": record.threadName,
            "log.logger": record.name,
            "service.name": self.labels.app or "unknown",
            "service.node.role": self.labels.role,
        }
        if labels := self.labels.as_dict():
            line["labels"] = labels
        facts: Mapping[str, object] = getattr(record, FACTS, {})
        if "event" in facts:
            line["event.action"] = facts["event"]
        if values := {name: value for name, value in facts.items() if name not in {"event", "message"}}:
            line["streamapp"] = values
        if stack:
            *_, last = stack.splitlines()
            line["error.type"], _, line["error.message"] = last.partition(": ")
            line["error.stack_trace"] = stack
        return json.dumps(line, ensure_ascii=False, default=str)

    def _as_text(self, record: logging.LogRecord) -> str:
        message, stack = _message_and_stack(self, record)
        subject = " ".join([self.labels.app, *self.labels.as_dict().values()])
        line = f"{_time(record)} {_level_name(record)} {subject} {record.name}: {message}"
        return f"{line}\n{stack}" if stack else line


def _message_and_stack(formatter: logging.Formatter, record: logging.LogRecord) -> tuple[str, str]:
    """The message, and the stack of an error: that of the record, or one that was printed."""
    message = record.getMessage()
    if record.exc_info and record.exc_info[0] is not None:
        return message, formatter.formatException(record.exc_info)
    if message.startswith(TRACEBACK):
        *_, last = message.splitlines()
        return last, message
    return message, ""


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _level_name(record: logging.LogRecord) -> str:
    return _LEVEL_NAMES.get(record.levelno, record.levelname)

"""Spark's error messages as people need them: one line, without codes and positions in other text."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.errors import PySparkException

_CODE = re.compile(r"^\s*\[[A-Z0-9_.]+\]\s*")
_TAIL = re.compile(r"\s*(SQLSTATE:.*|;? ?line \d+,? pos \d+.*|\(line \d+, pos \d+\).*)$", re.S)
_SETTING = re.compile(r"\s*If necessary set \S+ to \S+ to bypass this error\.?")
"""Of Spark's advice the part that nobody can follow here: the setting is the engine's."""


def spark_message(error: "PySparkException") -> str:
    """The first line of what Spark says."""
    return message_of(str(error))


def message_of(text: str) -> str:
    """The same, of its text."""
    lines = [line for line in text.splitlines() if line.strip()]
    first = _SETTING.sub("", _TAIL.sub("", _CODE.sub("", lines[0]))) if lines else ""
    return f"Spark says: {first.rstrip('. ;')}" if first else "Spark cannot read it"

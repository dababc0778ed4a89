"""Texts without the values of Secrets: errors of clients repeat the settings that they were given."""

from collections.abc import Iterable
from typing import Final

SHORTEST: Final = 4
"""Shorter values, such as numbers, are also part of other words in an error."""
REDACTED: Final = "***"


def without_values(text: str, values: Iterable[str]) -> str:
    """The text with each value replaced, and each line of a value: errors show lines of a key."""
    lines = {line for value in values for line in (value, *value.splitlines())}
    for line in sorted((line.strip() for line in lines), key=len, reverse=True):
        if len(line) >= SHORTEST:
            text = text.replace(line, REDACTED)
    return text

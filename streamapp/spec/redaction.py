"""Texts without the values of Secrets: errors of clients repeat the settings that they were given."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

SHORTEST: Final = 4
"""Shorter values, such as numbers, are also part of other words in an error."""
REDACTED: Final = "***"


def without_values(text: str, values: Iterable[str]) -> str:
    """The text with each value replaced, and each line of a value: errors show lines of a key."""
    return redaction_of(values)(text)


def redaction_of(values: Iterable[str]) -> Callable[[str], str]:
    """`without_values` for many texts."""
    forms = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
    if not forms:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub(REDACTED, text)


def _forms(value: str) -> Iterator[str]:
    """A value and its lines, as they are and as they stand in JSON."""
    for line in (value, *value.splitlines()):
        yield (plain := line.strip())
        yield json.dumps(plain)[1:-1]
        yield json.dumps(plain, ensure_ascii=False)[1:-1]

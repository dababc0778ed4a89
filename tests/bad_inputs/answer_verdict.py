"""How an answer to a wrong input is judged, in one of four words."""

import re
from enum import StrEnum

from click.testing import Result

LONGEST = 420
"""Characters of a sentence that still is one."""
MOST_SENTENCES = 12
INTERNAL = re.compile(
    r"pydantic|Value error|object at 0x|<class |NoneType|\bb'|\[Errno|invalid literal|Traceback|\(\) got an|"
    r"KeyError|TypeError|AttributeError|ValidationError|sqlglot|yaml\.|\\x00"
)
"""What only those who wrote the product could read."""


class Verdict(StrEnum):
    """What is said of a wrong input."""

    CLEAR = "one clear sentence"
    UNCLEAR = "unclear"
    TRACEBACK = "traceback"
    SILENT = "silent"


def verdict(result: Result) -> Verdict:
    """The verdict on what a command did with a wrong input."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return Verdict.TRACEBACK
    if result.exit_code == 0 or not result.output.strip():
        return Verdict.SILENT
    sentences = [line for line in result.stderr.splitlines() if line.strip()]
    too_long = len(sentences) > MOST_SENTENCES or any(len(sentence) > LONGEST for sentence in sentences)
    return Verdict.UNCLEAR if too_long or INTERNAL.search(result.output) else Verdict.CLEAR

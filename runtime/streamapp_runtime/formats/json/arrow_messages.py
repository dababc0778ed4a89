"""Arrow's messages about records that it cannot read, in words for whoever made the records."""

import re

from streamapp.spec.problem import short

_changed = re.compile(r"Column\(/?(.*)\) changed from (\w+) to (\w+)")
_twice = re.compile(r"Column\(/?(.*)\) was specified twice")
_no_scalar = re.compile(r"Failed to parse string: '(.*)' as a scalar of type (\w+)", re.S)
_unparsed = re.compile(r"Failed to convert JSON to (.*), couldn't parse:(.*)", re.S)
_no_decimal = re.compile(r"(\S+) requires (?:scale|precision) \d+")
LONGEST_MESSAGE = 200


def explain_arrow_message(message: str, column: str = "") -> str:
    """Arrow's message, in words for whoever made the record."""
    about = f"{column}: " if column else ""
    if match := _changed.search(message):
        where = match[1].replace("/", ".") or "record"
        return f"{where}: found {article(match[3])} where {article(match[2])} is expected"
    if match := _twice.search(message):
        return f"{match[1].replace('/', '.')}: occurs twice"
    if match := _no_scalar.search(message):
        return f'{about}"{short(match[1])}" is no {match[2].removesuffix("32")}'
    if match := _no_decimal.search(message):
        return f"{about}{short(match[1])} has more digits than the DECIMAL"
    if match := _unparsed.search(message):
        return f"{about}{short(match[2])} is no {match[1]}"
    plain = re.sub(r"^JSON parse error: | in row \d+$", "", message.splitlines()[0] if message else "")
    return about + short(plain, LONGEST_MESSAGE)


def article(kind: str) -> str:
    """The word with its article."""
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"

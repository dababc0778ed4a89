"""What a resource says, read without the product."""

import re
from collections.abc import Mapping
from typing import Any, Final

_UNITS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
Part = Mapping[str, Any]
RECORD_NAME: Final = "oracle.Row"
"""The full name of the records and messages that have schemas."""


def milliseconds(text: str) -> int:
    """How long `1m30s` is."""
    return sum(int(count) * _UNITS[unit] for count, unit in re.findall(r"(\d+)(ms|s|m|h|d)", text))


def split_list(text: str, brackets: str = "()[]") -> list[str]:
    """The entries of a list between commas, of which none lies in brackets or quotes."""
    parts, depth, quoted = [""], 0, False
    for letter in text:
        quoted ^= letter == "'"
        place = -1 if quoted else brackets.find(letter)
        depth += 0 if place < 0 else 1 - 2 * (place % 2)
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def columns_of(stream: Part, field: str = "columns") -> dict[str, str]:
    """The columns that a stream or table declares, by name, or those of another field."""
    return {
        name: kind for name, _, kind in (part.partition(" ") for part in split_list(stream[field], "()<>"))
    }


def key_subject_of(stream: Part) -> str:
    """The name under which a registry has the schemas of a stream's keys."""
    return f"{stream.get('topic', stream['name'])}-key"


def subject_of(stream: Part) -> str:
    """The name under which a registry has the schemas of a stream's values."""
    topic = stream.get("topic", stream["name"])
    match stream.get("writerSchema", {}).get("subject", "topic"):
        case "topic":
            return f"{topic}-value"
        case "topicRecord":
            return f"{topic}-{RECORD_NAME}"
        case _:
            return RECORD_NAME


def kind_of(operator: Part) -> tuple[str, Part]:
    """The kind of an operator, and what it says."""
    ((kind, body),) = ((key, value) for key, value in operator.items() if key != "name")
    return kind, body


def sources_of(body: Part) -> list[str]:
    """What an operator reads."""
    source = body["from"]
    return [source] if isinstance(source, str) else list(source)


def input_streams(spec: Part) -> list[Part]:
    """The streams that the app reads, also for tables."""
    read = {source for one in spec["operators"] for source in sources_of(kind_of(one)[1])}
    read |= {side["stream"] for table in spec["tables"] for side in table.get("sideInputs", ())}
    return [stream for stream in spec["streams"] if stream["name"] in read]


def edited(spec: Part, operator: str, kind: str, body: Part | None) -> dict[str, Any]:
    """The `spec` with one operator as an edit has it, in its place or at the end; None takes it away.

    One that is new and reads what is not there, as in a case that was made smaller, is left out.
    """
    operators = [*spec["operators"]]
    places = [place for place, one in enumerate(operators) if one["name"] == operator]
    made = [] if body is None else [{"name": operator, kind: body}]
    if places:
        operators[places[0] : places[0] + 1] = made
    elif made and body is not None:
        names = {one["name"] for one in (*operators, *spec["streams"])}
        operators += made if set(sources_of(body)) <= names else []
    return {**spec, "operators": operators}

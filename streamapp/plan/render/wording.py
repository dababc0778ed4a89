"""The wording that plans, conditions, messages and pages share: lists, names, the sentence of a plan."""

import unicodedata
from collections.abc import Mapping, Sequence

from streamapp.graph.nodes import Graph
from streamapp.plan.partition_plan import Plan, PlanError, PlanOutcome, Role

ROLES: Mapping[Role, str] = {
    Role.INPUT: "input",
    Role.OUTPUT: "output",
    Role.INPUT_OUTPUT: "input and output",
    Role.INTERMEDIATE: "intermediate",
    Role.SIDE_INPUT: "side input",
}


def counted(count: int, one: str, many: str = "") -> str:
    """`1 stream`, `2,000 streams`; `many` where it is not the word with an `s`."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def partitions(count: int | None) -> str:
    """A partition count in words."""
    return "unknown partitions" if count is None else counted(count, "partition")


_WIDE_CLASSES = ("W", "F")


def legible(text: str) -> str:
    """The text with invisible and control characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def display_width(text: str) -> int:
    """The number of columns of a text in a monospaced font."""
    return sum(
        0
        if unicodedata.combining(letter)
        else 2
        if unicodedata.east_asian_width(letter) in _WIDE_CLASSES
        else 1
        for letter in text
    )


def clip_middle(text: str, room: int) -> str:
    """The text, or as much of its two ends as fits: most names differ at their ends."""
    if display_width(text) <= room:
        return text
    head, tail = (
        _longest_prefix(text, (room - 1) // 3),
        _longest_prefix(text[::-1], room - 1 - (room - 1) // 3),
    )
    return f"{head}…{tail[::-1]}"


def clip_end(text: str, room: int) -> str:
    """The text, or the beginning of a too long text: for sentences."""
    return text if display_width(text) <= room else f"{_longest_prefix(text, room - 1)}…"


def _longest_prefix(text: str, room: int) -> str:
    for length in range(min(len(text), room), -1, -1):
        if display_width(text[:length]) <= room:
            return text[:length]
    return ""


def field_place(error: PlanError) -> str:
    """The field that an error is about, and its line where that is known."""
    return f"{error.path}, line {error.line}" if error.path and error.line else error.path


def outcome_text(plan: Plan) -> str:
    """The outcome with a mark, so that the outcome is legible without colour."""
    if plan.outcome is PlanOutcome.ACCEPTED:
        return "✓ accepted"
    return f"✗ rejected, {counted(len(plan.errors), 'error')}"


def summary(graph: Graph, plan: Plan) -> str:
    """The mode and the sizes: `stream mode · 4 operators · 4 streams · 1 table · 1 join`."""
    operators = sum(not operator.is_input for operator in graph.operators.values())
    parts = [f"{plan.mode} mode", counted(operators, "operator"), counted(len(plan.streams), "stream")]
    if graph.tables:
        parts.append(counted(len(graph.tables), "table"))
    if plan.joins:
        parts.append(counted(len(plan.joins), "join group"))
    return " · ".join(parts)

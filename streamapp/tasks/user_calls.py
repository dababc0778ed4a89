"""Calls of a user's own function, for every contract that such a function has.

What is given is decided by the contract. Here is what holds for all of them: the function is asked twice and
has to answer alike, and what it raises becomes a sentence with the place in the user's code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Final, TypeVar

from streamapp.internal_fault import OWN_PACKAGES

T = TypeVar("T")

LONGEST_VALUE: Final = 80
"""So many characters of what a function gave are shown."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A function's breach of its contract, as the rest of a sentence about the function."""

    text: str


def answer_of(ask: Callable[[], T | Complaint]) -> T | Complaint:
    """The checked answer of the user's function to `ask`, asked twice; a complaint where it raises."""
    try:
        first, second = ask(), ask()
        differs = first is not second and first != second
    except (Exception, SystemExit) as error:  # a user's code may raise anything
        return Complaint(failure_text(error))
    if differs and not isinstance(first, Complaint):
        return Complaint("gave another answer when it was called again with the same arguments")
    return first


def failure_text(error: BaseException) -> str:
    """The error that was raised, and its place in the user's own code."""
    trace = _users_trace(error.__traceback__)
    place = ""
    if trace is not None:
        place = f" (in {trace.tb_frame.f_code.co_name} of {_module(trace.tb_frame)}, line {trace.tb_lineno})"
    message = str(error)
    return f"raised {type(error).__name__}{': ' if message else ''}{message}{place}"


def shown(value: object) -> str:
    """A value as a message shows it."""
    try:
        text = repr(value)
    except Exception:  # a `__repr__` is the user's code too
        text = f"a {type(value).__name__}"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _users_trace(trace: TracebackType | None) -> TracebackType | None:
    """The innermost frame of the package that was called first, with its line."""
    package, innermost = "", None
    while trace is not None:
        top = _module(trace.tb_frame).partition(".")[0]
        if not package and top not in OWN_PACKAGES:
            package = top
        if package and top == package:
            innermost = trace
        trace = trace.tb_next
    return innermost


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))

"""Display names: users' names made safe to print and short enough to draw."""

import unicodedata

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

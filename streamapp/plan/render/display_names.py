"""Names are what users wrote: here they become safe to print and short enough to draw."""

import unicodedata

_WIDE = ("W", "F")


def legible(text: str) -> str:
    """The text with whatever would not show, or would steer a terminal, written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def display_width(text: str) -> int:
    """How many columns a text takes in type of one width."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in _WIDE else 1
        for letter in text
    )


def clip_middle(text: str, room: int) -> str:
    """The text, or as much of its two ends as fits: names that differ mostly differ at their ends."""
    if display_width(text) <= room:
        return text
    head, tail = _taken(text, (room - 1) // 3), _taken(text[::-1], room - 1 - (room - 1) // 3)
    return f"{head}…{tail[::-1]}"


def clip_end(text: str, room: int) -> str:
    """The text, or its beginning where it is too long: for sentences."""
    return text if display_width(text) <= room else f"{_taken(text, room - 1)}…"


def _taken(text: str, room: int) -> str:
    for length in range(min(len(text), room), -1, -1):
        if display_width(text[:length]) <= room:
            return text[:length]
    return ""

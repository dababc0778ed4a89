"""Answers of the Python that random apps have, row by row."""

from collections.abc import Iterable
from zlib import crc32


def numbered_rows(
    rows: Iterable[tuple[int, bytes | None, bool]],
) -> tuple[list[tuple[int, int | None]], dict[bytes, int]]:
    """The number of each row among those of its key since the last tombstone, and the last of each key."""
    last: dict[bytes, int] = {}
    numbers: list[tuple[int, int | None]] = []
    for row, key, is_tombstone in rows:
        if is_tombstone and key is not None:
            last.pop(key, None)
        elif key is not None:
            last[key] = last.get(key, 0) + 1
        numbers.append((row, None if key is None or is_tombstone else last[key]))
    return numbers, last


def rate_of(key: bytes) -> list[int | None]:
    """The rate of a key, where there is one: it may be null."""
    number = crc32(key)
    return [] if number % 3 == 0 else [number % 1000 or None]

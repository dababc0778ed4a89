"""Requests read and answers written byte by byte, as the protocol's guide says, for brokers in memory."""

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class RequestBytes:
    """A request being read."""

    def __init__(self, octets: bytes, at: int, *, flexible: bool) -> None:
        self._octets, self._at, self.flexible = octets, at, flexible

    def number(self, kind: str) -> int:
        """A whole number; b, h, i and q are of 8, 16, 32 and 64 bits."""
        value: int
        (value,) = struct.unpack_from(f">{kind}", self._octets, self._at)
        self._at += struct.calcsize(f">{kind}")
        return value

    def octets(self, kind: str = "i") -> bytes | None:
        """Bytes after their size, or none."""
        size = self._size(kind)
        if size < 0:
            return None
        self._at += size
        return self._octets[self._at - size : self._at]

    def text(self) -> str:
        """A text; an empty one for none."""
        return (self.octets("h") or b"").decode()

    def items(self, read: Callable[["RequestBytes"], T]) -> list[T]:
        """Their number, then each of them, with no field that has a tag."""
        items = []
        for _ in range(self._size("i")):
            items.append(read(self))
            self.tags()
        return items

    def numbers(self, kind: str) -> list[int]:
        """Numbers, which have no tags."""
        return [self.number(kind) for _ in range(self._size("i"))]

    def tags(self) -> None:
        """The end of a structure."""
        assert not self.flexible or self.number("b") == 0

    def _size(self, kind: str) -> int:
        if not self.flexible:
            return self.number(kind)
        value, shift, octet = 0, 0, 0x80
        while octet & 0x80:
            octet = self.number("B")
            value |= (octet & 0x7F) << shift
            shift += 7
        return value - 1


class AnswerBytes:
    """An answer being written."""

    def __init__(self, *, flexible: bool) -> None:
        self.flexible, self.octets = flexible, bytearray()

    def numbers(self, kinds: str, *values: int) -> "AnswerBytes":
        """Whole numbers of these sizes."""
        self.octets += struct.pack(f">{kinds}", *values)
        return self

    def raw(self, value: bytes | None, kind: str = "i") -> "AnswerBytes":
        """Bytes after their size, or none."""
        self._size(-1 if value is None else len(value), kind)
        self.octets += value or b""
        return self

    def text(self, value: str | None) -> "AnswerBytes":
        """A text, or none."""
        return self.raw(None if value is None else value.encode(), "h")

    def items(self, items: Sequence[T], write: Callable[["AnswerBytes", T], object]) -> "AnswerBytes":
        """Their number, then each of them."""
        self._size(len(items), "i")
        for item in items:
            write(self, item)
            self.tags()
        return self

    def plain_items(self, kind: str, items: Sequence[int]) -> "AnswerBytes":
        """Numbers, which have no tags."""
        self._size(len(items), "i")
        return self.numbers(kind * len(items), *items)

    def tags(self) -> "AnswerBytes":
        """The end of a structure: no field with a tag."""
        self.octets += b"\0" * self.flexible
        return self

    def _size(self, size: int, kind: str) -> None:
        if not self.flexible:
            self.numbers(kind, size)
            return
        left = size + 1
        while left > 0x7F:
            self.octets.append(left & 0x7F | 0x80)
            left >>= 7
        self.octets.append(left)

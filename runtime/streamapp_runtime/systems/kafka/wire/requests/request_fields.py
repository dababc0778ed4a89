"""The fields of requests and answers, one after the other, in both of the protocol's encodings.

Newer versions of a request are flexible: sizes are numbers of variable length, one more than the size, and
each structure ends with fields that have a tag (KIP-482). Whoever writes or reads one ends it with `tags`.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets

T = TypeVar("T")

_INT8, _INT16, _INT32, _INT64 = (struct.Struct(f">{kind}") for kind in "bhiq")
_LONGEST = 5  # bytes of a number of variable length


class RequestBody:
    """A request being written; every method gives it back, so that a request reads as the list it is."""

    def __init__(self, version: int = 0, *, flexible: bool = False) -> None:
        self.version = version
        self._flexible = flexible
        self._parts: list[bytes | bytearray | memoryview] = []

    def int8(self, value: int) -> "RequestBody":
        """A whole number of 8 bits."""
        self._parts.append(_INT8.pack(value))
        return self

    def int16(self, value: int) -> "RequestBody":
        """A whole number of 16 bits."""
        self._parts.append(_INT16.pack(value))
        return self

    def int32(self, value: int) -> "RequestBody":
        """A whole number of 32 bits."""
        self._parts.append(_INT32.pack(value))
        return self

    def int64(self, value: int) -> "RequestBody":
        """A whole number of 64 bits."""
        self._parts.append(_INT64.pack(value))
        return self

    def text(self, value: str | None) -> "RequestBody":
        """A short text, or none."""
        raw = None if value is None else value.encode()
        self._size(-1 if raw is None else len(raw), RequestBody.int16)
        self._parts.append(raw or b"")
        return self

    def octets(self, parts: Sequence[bytes | bytearray | memoryview]) -> "RequestBody":
        """Bytes after their number, from several places."""
        self._size(sum(map(len, parts)), RequestBody.int32)
        self._parts.extend(parts)
        return self

    def list(self, items: Sequence[T], write: Callable[["RequestBody", T], object]) -> "RequestBody":
        """Their number, then each of them."""
        self._size(len(items), RequestBody.int32)
        for item in items:
            write(self, item)
        return self

    def tags(self) -> "RequestBody":
        """The end of a structure: no field with a tag."""
        if self._flexible:
            self._parts.append(b"\0")
        return self

    @property
    def parts(self) -> Sequence[bytes | bytearray | memoryview]:
        """The parts that were written, not joined: records are large."""
        return self._parts

    def _size(self, size: int, write: Callable[["RequestBody", int], object]) -> None:
        """The size of what follows, -1 where there is nothing; `write` does so in the older encoding."""
        if not self._flexible:
            write(self, size)
            return
        left, number = size + 1, bytearray()
        while left > 0x7F:
            number.append(left & 0x7F | 0x80)
            left >>= 7
        self._parts.append(number + bytes([left]))


WriteRequest = Callable[[RequestBody], object]
"""Writes what a request asks, in the version that the body has."""


class ResponseReader:
    """An answer being read; a field that does not lie within it is a MalformedError."""

    def __init__(self, octets: Octets, size: int, version: int = 0, *, flexible: bool = False) -> None:
        """`octets` may be longer than the answer."""
        self.version = version
        self._flexible = flexible
        self._octets = octets
        self._raw = octets.data
        self._length = size
        self.at = 0
        self.throttle_ms = 0  # as long a quota wants the client to wait

    def int8(self) -> int:
        """A whole number of 8 bits."""
        return self._number(_INT8)

    def int16(self) -> int:
        """A whole number of 16 bits."""
        return self._number(_INT16)

    def int32(self) -> int:
        """A whole number of 32 bits."""
        return self._number(_INT32)

    def int64(self) -> int:
        """A whole number of 64 bits."""
        return self._number(_INT64)

    def text(self) -> str | None:
        """A short text, or none."""
        size = self._size(ResponseReader.int16)
        if size < 0:
            return None
        place = self._skip(size)
        try:
            return bytes(self._raw[place : place + size]).decode()
        except UnicodeDecodeError:
            raise MalformedError("a text in an answer is none") from None

    def octets(self) -> tuple[Octets, int, int]:
        """Bytes: what they lie in, where they begin and where they end; they are not copied."""
        size = max(self._size(ResponseReader.int32), 0)
        place = self._skip(size)
        return self._octets, place, place + size

    def list(self, read: Callable[["ResponseReader"], T]) -> list[T]:
        """Their number, then each of them."""
        count = max(self._size(ResponseReader.int32), 0)
        if count > self._length:  # each item takes some bytes
            raise MalformedError("an answer counts more than it can hold")
        return [read(self) for _ in range(count)]

    def tags(self) -> Mapping[int, "ResponseReader"]:
        """The fields at the end of a structure that have a tag; the older encoding has none."""
        fields: dict[int, ResponseReader] = {}
        for _ in range(self._variable() if self._flexible else 0):
            tag, size = self._variable(), self._variable()
            place = self._skip(size)
            fields[tag] = ResponseReader(self._octets[place:], size, self.version, flexible=True)
        return fields

    def _size(self, read: Callable[["ResponseReader"], int]) -> int:
        """The size of what follows, -1 where there is nothing; `read` gives it in the older encoding."""
        return self._variable() - 1 if self._flexible else read(self)

    def _variable(self) -> int:
        """A number of variable length without a sign."""
        number = 0
        for place in range(_LONGEST):
            octet = self._raw[self._skip(1)]
            number |= (octet & 0x7F) << (7 * place)
            if octet < 0x80:
                return number
        raise MalformedError("a number is longer than any may be")

    def _number(self, kind: struct.Struct) -> int:
        value: int = kind.unpack_from(self._raw, self._skip(kind.size))[0]
        return value

    def _skip(self, size: int) -> int:
        place = self.at
        if place + size > self._length:
            raise MalformedError("an answer ends too early")
        self.at += size
        return place

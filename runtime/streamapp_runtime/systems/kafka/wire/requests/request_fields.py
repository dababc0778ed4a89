"""The fields of requests and answers, one after the other, as the protocol's older versions write them."""

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from streamapp_runtime.systems.kafka.wire.batch_format.varints import Octets

T = TypeVar("T")

_INT8, _INT16, _INT32, _INT64 = (struct.Struct(f">{kind}") for kind in "bhiq")


class RequestBody:
    """A request being written; every method gives it back, so that a request reads as the list it is."""

    def __init__(self) -> None:
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
        if value is None:
            return self.int16(-1)
        raw = value.encode()
        self.int16(len(raw))
        self._parts.append(raw)
        return self

    def octets(self, parts: Sequence[bytes | bytearray | memoryview]) -> "RequestBody":
        """Bytes after their number, from several places."""
        self.int32(sum(map(len, parts)))
        self._parts.extend(parts)
        return self

    def list(self, items: Sequence[T], write: Callable[["RequestBody", T], object]) -> "RequestBody":
        """Their number, then each of them."""
        self.int32(len(items))
        for item in items:
            write(self, item)
        return self

    @property
    def parts(self) -> Sequence[bytes | bytearray | memoryview]:
        """The parts that were written, not joined: records are large."""
        return self._parts


class ResponseReader:
    """An answer being read; a field that does not lie within it is a MalformedError."""

    def __init__(self, octets: Octets, size: int) -> None:
        """`octets` may be longer than the answer."""
        self._octets = octets
        self._raw = octets.data
        self._size = size
        self.at = 0

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
        size = self.int16()
        if size < 0:
            return None
        place = self._skip(size)
        try:
            return bytes(self._raw[place : place + size]).decode()
        except UnicodeDecodeError:
            raise MalformedError("a text in an answer is none") from None

    def octets(self) -> tuple[Octets, int, int]:
        """Bytes: what they lie in, where they begin and where they end; they are not copied."""
        size = max(self.int32(), 0)
        place = self._skip(size)
        return self._octets, place, place + size

    def list(self, read: Callable[["ResponseReader"], T]) -> list[T]:
        """Their number, then each of them."""
        count = max(self.int32(), 0)
        if count > self._size:  # each item takes some bytes
            raise MalformedError("an answer counts more than it can hold")
        return [read(self) for _ in range(count)]

    def _number(self, kind: struct.Struct) -> int:
        value: int = kind.unpack_from(self._raw, self._skip(kind.size))[0]
        return value

    def _skip(self, size: int) -> int:
        place = self.at
        if place + size > self._size:
            raise MalformedError("an answer ends too early")
        self.at += size
        return place

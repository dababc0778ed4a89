"""Messages between driver and lanes: a length, a kind, and a payload of bounded size."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
"""So large a message of a proven peer may be."""
MOST_BYTES_UNPROVEN: Final = 4 << 10
"""So large a message of anybody may be."""
MOST_DEPTH: Final = 16
"""So deep arrays and objects may lie in each other."""
MOST_VALUES: Final = 4 << 20
"""So many values a payload may have: each is larger in memory than on the wire."""
_HEADER: Final = Struct("!IB")
_TEXT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)', re.DOTALL)
_BRACKETS: Final = bytes.maketrans(b"{}", b"[]")
_OTHER_BYTES: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")


class MalformedMessageError(Exception):
    """The bytes that arrived are no message of this protocol."""


class LaneMessageKind(IntEnum):
    """The kind of a message between driver and lane."""

    CHALLENGE = 1
    """Driver to whoever connects: prove yourself."""
    HELLO = 2
    """Lane to driver: who it is, with its proof."""
    WELCOME = 3
    """Driver to lane: its own proof."""
    ASK = 4
    """Lane to driver: for its order of one batch, or for the next."""
    ORDER = 5
    """Driver to lane."""
    REPORT = 6
    """Lane to driver: what came of an order."""
    END = 7
    """Driver to lane: no more orders."""


_KINDS: Final = frozenset(LaneMessageKind)


@dataclass(frozen=True, slots=True)
class Message:
    """One message."""

    kind: LaneMessageKind
    payload: bytes = b""

    def encoded(self) -> bytes:
        """As it travels."""
        return _HEADER.pack(len(self.payload), self.kind) + self.payload

    def fields(self) -> dict[str, Any]:
        """The payload of a message that carries fields; MalformedMessageError where it has none."""
        try:
            return parsed_object(self.payload)
        except MalformedMessageError as error:
            raise MalformedMessageError(f"a payload of {self.kind.name} {error}") from error


def parsed_object(payload: bytes) -> dict[str, Any]:
    """The fields of a JSON object that a peer sent; MalformedMessageError where it is none within bounds."""
    opened = payload.count(b"[") + payload.count(b"{")
    if opened > MOST_DEPTH and not _is_shallow(payload):
        raise MalformedMessageError(f"has more than {MOST_DEPTH} levels, or brackets without their twins")
    if opened + payload.count(b",") > MOST_VALUES:
        raise MalformedMessageError(f"has more than {MOST_VALUES} values")
    try:
        fields = json.loads(payload, parse_constant=_refused_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedMessageError("is no JSON") from error
    if not isinstance(fields, dict):
        raise MalformedMessageError("is no object")
    return fields


def _is_shallow(payload: bytes) -> bool:
    """True if nothing is left of all brackets once pairs without content are taken away so many times."""
    brackets = _TEXT.sub(b"", payload).translate(_BRACKETS, _OTHER_BYTES)
    for _ in range(MOST_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    return not brackets


def _refused_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def message(kind: LaneMessageKind, fields: Mapping[str, object]) -> Message:
    """A message that carries fields."""
    return Message(kind, json.dumps(fields, separators=(",", ":")).encode())


@dataclass(slots=True)
class MessageBuffer:
    """The bytes that have arrived of one peer, cut into messages."""

    most_bytes: int = MOST_BYTES_UNPROVEN
    _bytes: bytearray = field(default_factory=bytearray)

    def feed(self, arrived: bytes) -> None:
        """Take what a socket gave."""
        self._bytes += arrived

    def messages(self) -> Iterator[Message]:
        """The messages that are whole; MalformedMessageError where one is too large or of no kind."""
        while len(self._bytes) >= _HEADER.size:
            size, kind = _HEADER.unpack_from(self._bytes)
            if size > self.most_bytes:
                raise MalformedMessageError(f"a message of {size} bytes, where {self.most_bytes} are allowed")
            if kind not in _KINDS:
                raise MalformedMessageError(f"a message of the unknown kind {kind}")
            end = _HEADER.size + size
            if len(self._bytes) < end:
                return
            payload = bytes(self._bytes[_HEADER.size : end])
            del self._bytes[:end]
            yield Message(LaneMessageKind(kind), payload)

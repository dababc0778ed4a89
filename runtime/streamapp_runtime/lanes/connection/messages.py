"""Messages between driver and lanes: a length, a kind, and a payload of bounded size."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
"""So large a message of a proven peer may be."""
MOST_BYTES_UNPROVEN: Final = 4 << 10
"""So large a message of anybody may be."""
_HEADER: Final = Struct("!IB")


class MalformedMessageError(Exception):
    """What came is no message of this protocol."""


class LaneMessageKind(IntEnum):
    """What a message says."""

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
            fields = json.loads(self.payload)
        except ValueError as error:
            raise MalformedMessageError(f"a payload of {self.kind.name} is no JSON") from error
        if not isinstance(fields, dict):
            raise MalformedMessageError(f"a payload of {self.kind.name} is no object")
        return fields


def message(kind: LaneMessageKind, fields: Mapping[str, object]) -> Message:
    """A message that carries fields."""
    return Message(kind, json.dumps(fields, separators=(",", ":")).encode())


@dataclass(slots=True)
class MessageBuffer:
    """What has arrived of one peer, cut into messages."""

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

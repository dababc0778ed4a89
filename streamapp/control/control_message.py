"""The records of an intermediate stream: the user's and, between them, control messages of upstream tasks.

A watermark is a time in milliseconds: every event before it has been seen. It may be negative, for events
before 1970; "no watermark yet" is None and never a number.
"""

from dataclasses import dataclass
from enum import IntEnum

ENDED = 2**63 - 1
"""The watermark of what has ended. Only an end of stream brings it; no watermark message can."""

NO_BOUND = ENDED - 1
"""The watermark of a source without event times: it holds nobody back, and yet has not ended."""

EARLIEST = -(2**63)


class MessageKind(IntEnum):
    """The first byte of a record in an intermediate stream."""

    USER = 0
    WATERMARK = 1
    END_OF_STREAM = 2


@dataclass(frozen=True, slots=True)
class UserRecord:
    """A record of the user's. A null value stays null: it deletes, in intermediate streams as well."""

    value: bytes | None


@dataclass(frozen=True, slots=True)
class UpstreamTask:
    """Whose word a control message is, and how many upstream tasks there are in its model."""

    task: str | None  # None: it speaks for all upstream tasks at once
    tasks: int
    run: str
    model: int


@dataclass(frozen=True, slots=True)
class Watermark:
    """An upstream task has seen every event before the timestamp."""

    speaker: UpstreamTask
    timestamp: int

    @property
    def reached(self) -> int:
        """The watermark that the upstream task has reached by this."""
        return self.timestamp


@dataclass(frozen=True, slots=True)
class EndOfStream:
    """An upstream task will write no more to the stream."""

    speaker: UpstreamTask
    stream: str

    @property
    def reached(self) -> int:
        """The watermark that the upstream task has reached by this: the last there is."""
        return ENDED


Control = Watermark | EndOfStream
Message = UserRecord | Control

"""The record of a task's work, written with its outputs in one transaction: the truth that all else follows.

Written as JSON to the app's checkpoint stream, under the task's name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from streamapp.control.control_sender import LastSent
from streamapp.durable_forms import VersionRefusal
from streamapp.tasks.partition import Partition
from streamapp_runtime.runtime_durable_forms import CHECKPOINT

_KEPT = 1_024
"""So many decoded checkpoints are kept."""
RESTORE_HINT = "restore the checkpoint stream; only raise resetNonce if the state may be given up"


class StateUnreadableError(Exception):
    """The state that the app left with its streams cannot be read. Trying again does not fix it."""


class CheckpointUnreadableError(StateUnreadableError):
    """A checkpoint that cannot be read: going on would lose or repeat records."""


def json_fault(error: Exception) -> str:
    """The fault of a document in JSON that cannot be decoded."""
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return "it is no JSON"
    if isinstance(error, KeyError):
        return f'it has no field "{error.args[0]}"'
    return "a field of it is of another type or form"


@dataclass(frozen=True, slots=True)
class EventTimeProgress:
    """The event-time progress of a task: what it was told, what it said, and all its partitions heard."""

    turn: int = 0  # of a batch app: what another turn has reached says nothing in this one
    watermarks: Mapping[str, int] = field(default_factory=dict)  # by stream, as the task was told last
    sent: Mapping[str, LastSent] = field(default_factory=dict)  # by stream that the app makes
    heard: str = ""  # the books of its partitions, as `bookkeeping_codec` writes them
    closed: Mapping[str, int] = field(default_factory=dict)  # by operator: what is before is over in any turn


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The position of a task: the next record of each partition, and the written part of each changelog."""

    run_id: str
    attempt: str = ""
    positions: Mapping[Partition, int] = field(default_factory=dict)
    changelogs: Mapping[str, int] = field(default_factory=dict)  # table -> end of the task's changelog
    reached: EventTimeProgress | None = None  # None where the app has nothing to do with event time

    def encode(self) -> bytes:
        """The checkpoint as it is written; equal checkpoints are equal bytes."""
        positions = {str(partition): position for partition, position in sorted(self.positions.items())}
        document = {
            "format": CHECKPOINT.version,
            "run": self.run_id,
            "attempt": self.attempt,
            "positions": positions,
        }
        document |= {"changelogs": dict(sorted(self.changelogs.items()))}
        if self.reached is not None:
            document |= {"time": _written(self.reached)}
        return json.dumps(document).encode()

    @classmethod
    @lru_cache(_KEPT)
    def decode(cls, text: bytes) -> "Checkpoint":
        """The checkpoint in bytes that `encode` made. Each part of a batch asks for that of a task again."""
        try:
            document = json.loads(text)
            version = CHECKPOINT.read_version(document["format"])
            if isinstance(version, VersionRefusal):
                raise CheckpointUnreadableError(f"{version.message}; {version.hint or RESTORE_HINT}")
            positions = {Partition.parse(name): int(at) for name, at in document["positions"].items()}
            changelogs = {str(table): int(at) for table, at in document["changelogs"].items()}
            reached = _read(document["time"]) if "time" in document else None
            return cls(str(document["run"]), str(document["attempt"]), positions, changelogs, reached)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"the checkpoint cannot be read: {json_fault(error)}; {RESTORE_HINT}"
            raise CheckpointUnreadableError(message) from None


def _written(reached: EventTimeProgress) -> dict[str, object]:
    sent = {stream: [one.model, one.watermark, one.at] for stream, one in sorted(reached.sent.items())}
    watermarks = dict(sorted(reached.watermarks.items()))
    written = {"turn": reached.turn, "watermarks": watermarks, "sent": sent, "heard": reached.heard}
    return written | {"closed": dict(sorted(reached.closed.items()))}


def _read(fields: Mapping[str, Any]) -> EventTimeProgress:
    sent = {str(stream): LastSent(*map(int, one)) for stream, one in fields["sent"].items()}
    watermarks = {str(stream): int(at) for stream, at in fields["watermarks"].items()}
    closed = {str(operator): int(at) for operator, at in fields["closed"].items()}
    return EventTimeProgress(int(fields["turn"]), watermarks, sent, str(fields["heard"]), closed)


def attempt_name(incarnation: int, batch: int, spark_attempt: int) -> str:
    """The name of pending writes until it is known whether they were committed."""
    return f"{incarnation}.{batch}.{spark_attempt}"

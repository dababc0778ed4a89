"""What a task has done, written with its outputs in one transaction: the truth that everything else follows.

Written as JSON to the app's checkpoint stream, under the task's name.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition

FORMAT = 1
DRIVER = b"\x00driver"
"""The key under which a driver records its incarnation; no task has a name that begins with a NUL."""


class CheckpointUnreadableError(Exception):
    """A checkpoint that cannot be read: going on would lose or repeat records."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a task is: the next record of each partition, and how much of each changelog is written."""

    run_id: str
    attempt: str = ""
    positions: Mapping[Partition, int] = field(default_factory=dict)
    changelogs: Mapping[str, int] = field(default_factory=dict)  # table -> end of the task's changelog

    def encode(self) -> bytes:
        """The checkpoint as it is written; equal checkpoints are equal bytes."""
        positions = {str(partition): position for partition, position in sorted(self.positions.items())}
        document = {"format": FORMAT, "run": self.run_id, "attempt": self.attempt, "positions": positions}
        return json.dumps(document | {"changelogs": dict(sorted(self.changelogs.items()))}).encode()

    @classmethod
    def decode(cls, text: bytes) -> "Checkpoint":
        """The checkpoint in bytes that `encode` made."""
        try:
            found = json.loads(text)
            if found["format"] != FORMAT:
                raise CheckpointUnreadableError(f"a checkpoint is written in format {found['format']!r}")
            positions = {Partition.parse(name): int(at) for name, at in found["positions"].items()}
            changelogs = {str(table): int(at) for table, at in found["changelogs"].items()}
            return cls(str(found["run"]), str(found["attempt"]), positions, changelogs)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CheckpointUnreadableError(f"a checkpoint cannot be read: {error}") from None


def attempt_name(incarnation: int, batch: int, spark_attempt: int) -> str:
    """What pending writes are called until it is known whether they were committed."""
    return f"{incarnation}.{batch}.{spark_attempt}"

"""The log of an app under a schedule: the real system, with a stop before and after each commit and fence."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.checkpoint_entries import INCARNATION
from streamapp_runtime.systems.stream_system import StreamSystem, Transaction
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.schedules.fault_points import FaultPoint

Stop = Callable[[FaultPoint], None]


@dataclass(slots=True)
class CommitHistory:
    """What became permanent of checkpoints and incarnations, and what was wrong with it."""

    newest: dict[str, Checkpoint] = field(default_factory=dict)  # by task
    incarnation: int = 0  # the highest that a driver has recorded
    fenced: int = 0
    violations: list[str] = field(default_factory=list)

    def note_fence(self, incarnation: int) -> None:
        """From now on nothing of a lower incarnation may be committed."""
        self.fenced = max(self.fenced, incarnation)

    def note_entry(self, key: bytes, value: bytes | None) -> None:
        """An entry of the checkpoint stream was committed."""
        if key == INCARNATION.key:
            incarnation = INCARNATION.read({key: value or b""}, "", lambda fields: int(fields["incarnation"]))
            if incarnation is None or incarnation <= self.incarnation:
                self.violations.append(f"two drivers recorded incarnation {incarnation}")
            else:
                self.incarnation = incarnation
        elif not key.startswith(b"\x00") and value is not None:
            self._note_checkpoint(key.decode(), Checkpoint.decode(value))

    def _note_checkpoint(self, task: str, checkpoint: Checkpoint) -> None:
        before = self.newest.get(task)
        self.newest[task] = checkpoint
        incarnation = int(checkpoint.attempt.partition(".")[0])
        if incarnation < self.fenced:
            self.violations.append(f"{task}: incarnation {incarnation} committed behind a fence")
        for at, position in (before.positions if before else {}).items():
            if checkpoint.positions.get(at, 0) < position:
                self.violations.append(f"{task}: {at} went back from {position}")


@dataclass(slots=True)
class WatchedTransaction:
    """A transaction of the real system, and what it puts into the checkpoint stream."""

    transaction: Transaction
    stop: Stop
    history: CommitHistory
    before: FaultPoint
    after: FaultPoint | None
    _entries: list[tuple[bytes, bytes | None]] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        """Whatever else a transaction can do."""
        return getattr(self.transaction, name)

    def put(self, stream: str, key: bytes, value: bytes | None) -> None:
        """Add one entry to the checkpoint stream."""
        self._entries.append((key, value))
        self.transaction.put(stream, key, value)

    def commit(self, seen_in: Collection[str] | None = None, /) -> Mapping[TopicPartition, int]:
        """Make everything visible, unless a fault comes first."""
        self.stop(self.before)
        ends = self.transaction.commit(seen_in)
        for key, value in self._entries:
            self.history.note_entry(key, value)
        if self.after is not None:
            self.stop(self.after)
        return ends


@dataclass(slots=True)
class WatchedLog:
    """The system as a driver or a lane has it."""

    system: StreamSystem
    stop: Stop
    history: CommitHistory
    of_lane: bool

    def __getattr__(self, name: str) -> Any:
        """Whatever else a system can do."""
        return getattr(self.system, name)

    def begin(self, *args: Any, **options: Any) -> WatchedTransaction:
        """Open a transaction of the real system."""
        transaction = self.system.begin(*args, **options)
        points = (FaultPoint.COMMITS, FaultPoint.COMMITTED) if self.of_lane else (FaultPoint.WRITES, None)
        return WatchedTransaction(transaction, self.stop, self.history, *points)

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        """Fence, unless a fault comes first."""
        self.stop(FaultPoint.FENCES)
        self.system.fence(owner, incarnation, writers)
        self.history.note_fence(incarnation)


def watched_log(system: StreamSystem, stop: Stop, history: CommitHistory, *, of_lane: bool) -> StreamSystem:
    """The system with stops: a whole one, since what has no stop passes through."""
    return cast("StreamSystem", WatchedLog(system, stop, history, of_lane))

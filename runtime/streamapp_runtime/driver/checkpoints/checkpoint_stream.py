"""The driver's side of the checkpoint stream: incarnations, the layout, the checkpoints of all tasks."""

import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from streamapp.author.names import CHECKPOINT
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import encode_layout
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.checkpoint_entries import (
    INCARNATION,
    LAYOUT,
    LEADER_EPOCHS,
    OUTLIVE_RESET,
    START_POSITIONS,
    STREAM_IDENTITIES,
    WRITERS,
    CheckpointEntry,
)
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.checkpoints.ownership import NOBODY, Ownership
from streamapp_runtime.driver.checkpoints.state_reset import NEVER, DroppedState, StateReset, ends_of
from streamapp_runtime.driver.checkpoints.stored_state import (
    decode_checkpoint,
    read_checkpoint,
    read_layout,
    stored_values,
)
from streamapp_runtime.incarnation import Incarnation, check_newest, read_incarnation
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions, StreamSystem

MOST_RIVALS = 20
"""So many drivers may start at the same moment as this one and be ahead of it."""
DRIVER_WRITER = "driver"
NO_ENTRIES: Final[Mapping[bytes, bytes]] = {}
NO_IDENTITIES: Final[Mapping[str, str]] = {}
DATA_LOSS_HINT = "with onDataLoss: earliest the app continues from the oldest record there is"
"""What to do where records that were not yet read no longer exist."""


@dataclass(slots=True)
class CheckpointStream:
    """One app's checkpoint stream, as one driver sees it."""

    system: StreamSystem
    stream: str
    run_id: str = ""
    incarnation: int = 0
    layout: Layout | None = None
    checkpoints: dict[str, str] = field(default_factory=dict)  # by task, as they were written
    starts: dict[Partition, int] = field(default_factory=dict)  # where not at the oldest record
    entries: dict[bytes, bytes] = field(default_factory=dict)  # what drivers wrote beside the checkpoints
    identities: dict[str, str] = field(default_factory=dict)  # by topic
    epochs: dict[str, int] = field(default_factory=dict)  # of leaders, by topic and partition
    dropped: DroppedState | None = None  # what this start gave up, where it did
    _record: bytes | None = None  # what this driver wrote of itself
    _decoded: dict[str, tuple[str, Checkpoint]] = field(default_factory=dict)  # by task, with its text

    @property
    def was_reset(self) -> bool:
        """True if this start gave state up."""
        return self.dropped is not None

    def open(self, new_run: str, claim: Ownership = NOBODY, reset: StateReset = NEVER) -> None:
        """Take over: from here on nothing of an earlier driver commits. What it had committed is read.

        Unless the state was to be given up since then: then there is a new run, of which nothing is known.
        RefusedError where all of it belongs to another app, whose driver is then left in peace.
        """
        self.system.create(self.stream, 1, StreamOptions(compacted=True))
        for _ in range(MOST_RIVALS):
            claim.check(self.system.latest(self.stream, settled=False), self.stream)
            self._interrupt()
            values = self.system.latest(self.stream)
            claim.check(values, self.stream)
            self._record = values.get(INCARNATION.key)
            last = read_incarnation(values, self.stream)
            next_incarnation = Incarnation(last.run_id or new_run, last.number + 1)
            try:
                self._begin(next_incarnation, claim.entry(values, self.stream))
            except FencedError:
                continue  # another driver started at the same moment, and was first: follow it
            self._begin_anew(new_run, reset)
            self._read()
            return
        raise FencedError(f"{MOST_RIVALS} other drivers started meanwhile")

    def look(self) -> None:
        """Read what there is, as somebody who takes nothing over."""
        values = stored_values(self.system, self.stream)
        if values is not None:
            self.run_id = read_incarnation(values, self.stream).run_id
            self._note(values)

    def raise_incarnation(self) -> None:
        """Fence everything before, and read what it committed. FencedError when another driver took over."""
        self._interrupt()
        self._begin(Incarnation(self.run_id, self.incarnation + 1))
        self._read()

    def check(self) -> None:
        """FencedError when another driver took over."""
        check_newest(self.system, self.stream, self.incarnation)

    def _begin(self, incarnation: Incarnation, beside: Mapping[bytes, bytes] = NO_ENTRIES) -> None:
        """Record, then fence. Two that record the same number are told apart by what was there."""
        record = incarnation.encode()
        expected = {INCARNATION.key: self._record}
        transaction = self.system.begin(self.stream, incarnation.number, expected, DRIVER_WRITER)
        for key, value in {INCARNATION.key: record, **beside}.items():
            transaction.put(self.stream, key, value)
        transaction.commit()
        crash_point("driver.recorded")
        self._record, self.run_id, self.incarnation = record, incarnation.run_id, incarnation.number
        self.system.fence(self.stream, self.incarnation, self._writers(self.system.latest(self.stream)))
        crash_point("driver.fenced")

    def _begin_anew(self, new_run: str, reset: StateReset) -> None:
        """Give up what there is, if it was to be, in one transaction: a kill leaves all of it or nothing."""
        values = self.system.latest(self.stream)
        entries: dict[bytes, bytes | None] = dict(reset.entry(values))
        is_due = reset.due(values, self.stream)
        if is_due and (self.run_id != new_run or not OUTLIVE_RESET.issuperset(values)):
            self.dropped = DroppedState.of(values, self.stream, forced=reset.forced)
            # A run that goes by the old name would take stores on disk for its own.
            self.run_id = new_run if new_run != self.run_id else f"{new_run}.{reset.nonce}"
            self._record = Incarnation(self.run_id, self.incarnation).encode()
            prefix = self.stream.removesuffix(CHECKPOINT)
            ends = ends_of(self.system, prefix, time.sleep, time.monotonic)
            starts = {at: end for at, end in ends.items() if at.stream != self.stream}
            entries = dict.fromkeys(values.keys() - OUTLIVE_RESET) | entries
            entries |= {INCARNATION.key: self._record, START_POSITIONS.key: _encode_starts(starts)}
        if entries:
            crash_point("driver.giving-up")
            self._put(entries)
            crash_point("driver.gave-up")

    def remember(self, layout: Layout) -> None:
        """Write the layout, before any state that rests on it."""
        if layout != self.layout:
            self._put({LAYOUT.key: encode_layout(layout).encode()})
            self.layout = layout

    def expect(self, writers: Iterable[str]) -> None:
        """Write who is going to write, before any of them does."""
        recorded_writers = self._writers(self.system.latest(self.stream))
        if not recorded_writers.issuperset(writers):
            self._put({WRITERS.key: WRITERS.encode(sorted(recorded_writers.union(writers)))})

    def begin_at(self, starts: Mapping[Partition, int]) -> None:
        """Write where partitions are begun that nobody has read; what was written before stands."""
        fresh_starts = {partition: at for partition, at in starts.items() if partition not in self.starts}
        if fresh_starts:
            self.starts |= fresh_starts
            self._put({START_POSITIONS.key: _encode_starts(self.starts)})

    def record(
        self, entry: CheckpointEntry, document: object, by: tuple[StreamSystem, str] | None = None
    ) -> None:
        """Write an entry beside the checkpoints; a thread of its own has a system and a writer of its own."""
        value = entry.encode(document)
        self._put({entry.key: value}, by=by)
        self.entries[entry.key] = value

    def recognise(self, identities: Mapping[str, str]) -> None:
        """Write which streams these are, by their names in the system."""
        all_identities = self.identities | dict(identities)
        if all_identities != self.identities:
            self._put({STREAM_IDENTITIES.key: STREAM_IDENTITIES.encode(all_identities)})
            self.identities = all_identities

    def note_epochs(self, epochs: Mapping[str, int]) -> None:
        """Write which leaders partitions have, by their names in the system, before more of them is read."""
        all_epochs = self.epochs | dict(epochs)
        if all_epochs != self.epochs:
            self._put({LEADER_EPOCHS.key: LEADER_EPOCHS.encode(all_epochs)})
            self.epochs = all_epochs

    def recreated_topics(self, identities: Mapping[str, str]) -> frozenset[str]:
        """The topics that are not the ones that were known by these names."""
        return frozenset(
            topic
            for topic, identity in identities.items()
            if self.identities.get(topic, identity) != identity
        )

    def forget(
        self,
        partitions: Collection[Partition],
        layout: Layout | None = None,
        identities: Mapping[str, str] = NO_IDENTITIES,
    ) -> None:
        """Write that nothing of these was read yet, in whichever checkpoint they stand.

        In one transaction with the layout that follows from it, and with which topics they are of now.
        """
        lost_partitions = set(partitions)
        expected, after = {}, {}
        for task, before in self.of_tasks().items():
            positions = {
                at: position for at, position in before.positions.items() if at not in lost_partitions
            }
            if len(positions) < len(before.positions):
                expected[task.encode()] = self.checkpoints[task].encode()
                after[task] = replace(before, positions=positions).encode()
        starts = {at: position for at, position in self.starts.items() if at not in lost_partitions}
        layout = layout or self.layout
        all_identities = self.identities | dict(identities)
        entries = {task.encode(): checkpoint for task, checkpoint in after.items()}
        entries[START_POSITIONS.key] = _encode_starts(starts)
        entries[STREAM_IDENTITIES.key] = STREAM_IDENTITIES.encode(all_identities)
        if layout is not None:
            entries[LAYOUT.key] = encode_layout(layout).encode()
        self._put(entries, expected)
        self.starts, self.layout, self.identities = starts, layout, all_identities
        self.checkpoints |= {task: checkpoint.decode() for task, checkpoint in after.items()}

    def of_tasks(self) -> Mapping[str, Checkpoint]:
        """The checkpoint of every task that has one. A text that has not changed is not decoded again."""
        for task, text in self.checkpoints.items():
            if task not in self._decoded or self._decoded[task][0] != text:
                self._decoded[task] = text, decode_checkpoint(text.encode(), self.stream, task)
        return {task: self._decoded[task][1] for task in self.checkpoints}

    def positions(self) -> dict[str, Mapping[Partition, int]]:
        """The next record of every partition, by the task that read it."""
        return {task: checkpoint.positions for task, checkpoint in self.of_tasks().items()}

    def _interrupt(self) -> None:
        """Void what lanes may have open, before anything is read to the end: a dead one would hold it up."""
        self.system.interrupt(self.stream, self._writers(self.system.latest(self.stream, settled=False)))

    def _put(
        self,
        entries: Mapping[bytes, bytes | None],
        expected: Mapping[bytes, bytes | None] | None = None,
        by: tuple[StreamSystem, str] | None = None,
    ) -> None:
        system, writer = by or (self.system, DRIVER_WRITER)
        transaction = system.begin(self.stream, self.incarnation, expected, writer)
        for key, value in entries.items():
            transaction.put(self.stream, key, value)
        transaction.commit()

    def _read(self) -> None:
        """Read everything, and delete checkpoints of a run that was given up.

        A driver that was replaced may write one late where no fence guards checkpoints: at least once without
        changelogs.
        """
        late_tasks = self._note(self.system.latest(self.stream))
        if late_tasks:
            self._put({task.encode(): None for task in late_tasks})

    def _note(self, values: Mapping[bytes, bytes]) -> list[str]:
        """Take what was read; gives the tasks whose checkpoints are of a run that was given up."""
        self.layout = read_layout(values, self.stream) or self.layout
        self.starts = START_POSITIONS.read(values, self.stream, _decode_starts) or {}
        self.identities = STREAM_IDENTITIES.read(values, self.stream, _decode_identities) or {}
        self.epochs = LEADER_EPOCHS.read(values, self.stream, _decode_epochs) or {}
        self.entries = {key: value for key, value in values.items() if key.startswith(b"\x00")}
        tasks = [key.decode() for key in values if key not in self.entries]
        self.checkpoints, self._decoded = {}, {}
        late_tasks = list[str]()
        for task in tasks:
            checkpoint = read_checkpoint(values, self.stream, task)
            if checkpoint is not None and checkpoint.run_id == self.run_id:
                text = values[task.encode()].decode()
                self.checkpoints[task], self._decoded[task] = text, (text, checkpoint)
            elif checkpoint is not None:
                late_tasks.append(task)
        return late_tasks

    def _writers(self, values: Mapping[bytes, bytes]) -> frozenset[str]:
        """All lanes that ever wrote, as they were recorded."""
        return WRITERS.read(values, self.stream, _decode_writers) or frozenset()


def _decode_writers(names: Any) -> frozenset[str]:
    return frozenset(map(str, names))


def _decode_identities(identities: Any) -> dict[str, str]:
    return {str(stream): str(identity) for stream, identity in identities.items()}


def _decode_epochs(epochs: Any) -> dict[str, int]:
    return {str(partition): int(epoch) for partition, epoch in epochs.items()}


def _decode_starts(starts: Any) -> dict[Partition, int]:
    return {Partition.parse(name): int(at) for name, at in starts.items()}


def _encode_starts(starts: Mapping[Partition, int]) -> bytes:
    return START_POSITIONS.encode({str(partition): at for partition, at in starts.items()})

"""The driver's side of the checkpoint stream: incarnations, the layout, the checkpoints of all tasks."""

import json
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from streamapp.author.names import CHECKPOINT
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import (
    DRIVER_KEY,
    Checkpoint,
    CheckpointUnreadableError,
    StateUnreadableError,
)
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.driver.checkpoints.ownership import NOBODY, OWNER, Ownership
from streamapp_runtime.driver.checkpoints.state_reset import NEVER, RESET, StateReset, ends_of
from streamapp_runtime.incarnation import Incarnation, check_newest, decode_incarnation
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions, StreamSystem

LAYOUT = b"\x00layout"
"""The key of the layout: what decides which task holds the state of which keys lies with the checkpoints."""
MOST_RIVALS = 20
"""So many drivers may start at the same moment as this one and be ahead of it."""

STARTS = b"\x00starts"
"""The key of the positions at which streams are begun that are not read from their oldest record."""

WRITERS = b"\x00writers"
"""The key of the names of all that ever wrote: a lane that nobody knows of any more may still be at it."""
DRIVER_WRITER = "driver"
KEPT = frozenset({DRIVER_KEY, OWNER, RESET, WRITERS})
"""The keys of what stays when state is given up: who runs the app, and who may still be at it."""
NOTHING: Mapping[bytes, bytes] = {}
IDENTITIES = b"\x00identities"
"""The key of what tells the streams that the app reads from others that may be made under their names."""


DATA_LOSS_HINT = "with onDataLoss: earliest the app goes on from the oldest record there is"
"""What to do where records that were not yet read are gone."""


class LayoutUnreadableError(StateUnreadableError):
    """The layout cannot be read; going on could part keys from their state."""


def decode_task_checkpoint(stream: str, task: str, value: bytes) -> Checkpoint:
    """One task's checkpoint; a CheckpointUnreadableError names the stream, its partition and the task."""
    try:
        return Checkpoint.decode(value)
    except CheckpointUnreadableError as error:
        raise CheckpointUnreadableError(f"{stream}, partition 0, task {task}: {error}") from None


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
    records: dict[bytes, bytes] = field(default_factory=dict)  # what drivers wrote beside the checkpoints
    identities: dict[str, str] = field(default_factory=dict)  # by topic
    was_reset: bool = False  # whether this start gave state up
    _record: bytes | None = None  # what this driver wrote of itself

    def open(self, new_run: str, claim: Ownership = NOBODY, reset: StateReset = NEVER) -> None:
        """Take over: from here on nothing of an earlier driver commits. What it had committed is read.

        Unless the state was to be given up since then: then there is a new run, of which nothing is known.
        RefusedError where all of it belongs to another app, whose driver is then left in peace.
        """
        self.system.create(self.stream, 1, StreamOptions(compacted=True))
        for _ in range(MOST_RIVALS):
            claim.check(self.system.latest(self.stream, settled=False))
            self._interrupt()
            found = self.system.latest(self.stream)
            claim.check(found)
            self._record = found.get(DRIVER_KEY)
            last = decode_incarnation(self._record)
            try:
                self._begin(Incarnation(last.run_id or new_run, last.number + 1), claim.entry(found))
            except FencedError:
                continue  # another driver started at the same moment, and was first: follow it
            self._begin_anew(new_run, reset)
            self._read()
            return
        raise FencedError(f"{MOST_RIVALS} other drivers started meanwhile")

    def raise_incarnation(self) -> None:
        """Fence everything before, and read what it committed. FencedError when another driver took over."""
        self._interrupt()
        self._begin(Incarnation(self.run_id, self.incarnation + 1))
        self._read()

    def check(self) -> None:
        """FencedError when another driver took over."""
        check_newest(self.system, self.stream, self.incarnation)

    def _begin(self, incarnation: Incarnation, beside: Mapping[bytes, bytes] = NOTHING) -> None:
        """Record, then fence. Two that record the same number are told apart by what was there."""
        record = incarnation.encode()
        expected = {DRIVER_KEY: self._record}
        transaction = self.system.begin(self.stream, incarnation.number, expected, DRIVER_WRITER)
        for key, value in {DRIVER_KEY: record, **beside}.items():
            transaction.put(self.stream, key, value)
        transaction.commit()
        crash_point("driver.recorded")
        self._record, self.run_id, self.incarnation = record, incarnation.run_id, incarnation.number
        self.system.fence(self.stream, self.incarnation, _writers(self.system.latest(self.stream)))
        crash_point("driver.fenced")

    def _begin_anew(self, new_run: str, reset: StateReset) -> None:
        """Give up what there is, if it was to be, in one transaction: a kill leaves all of it or nothing."""
        found = self.system.latest(self.stream)
        entries: dict[bytes, bytes | None] = dict(reset.entry(found))
        self.was_reset = reset.due(found) and (self.run_id != new_run or not KEPT.issuperset(found))
        if self.was_reset:
            # A run that goes by the old name would take stores on disk for its own.
            self.run_id = new_run if new_run != self.run_id else f"{new_run}.{reset.nonce}"
            self._record = Incarnation(self.run_id, self.incarnation).encode()
            made = self.stream.removesuffix(CHECKPOINT)
            ends = ends_of(self.system, made, time.sleep, time.monotonic)
            starts = {str(at): end for at, end in ends.items() if at.stream != self.stream}
            entries = dict.fromkeys(found.keys() - KEPT) | entries
            entries |= {DRIVER_KEY: self._record, STARTS: json.dumps(starts).encode()}
        if entries:
            crash_point("driver.giving-up")
            self._put(entries)
            crash_point("driver.gave-up")

    def remember(self, layout: Layout) -> None:
        """Write the layout, before any state that rests on it."""
        if layout != self.layout:
            self._write(LAYOUT, encode_layout(layout).encode())
            self.layout = layout

    def expect(self, writers: Iterable[str]) -> None:
        """Write who is going to write, before any of them does."""
        known = _writers(self.system.latest(self.stream))
        if not known.issuperset(writers):
            self._write(WRITERS, json.dumps(sorted(known.union(writers))).encode())

    def begin_at(self, starts: Mapping[Partition, int]) -> None:
        """Write where partitions are begun that nobody has read; what was written before stands."""
        fresh = {str(partition): at for partition, at in starts.items() if partition not in self.starts}
        if fresh:
            known = {str(partition): at for partition, at in self.starts.items()} | fresh
            self._write(STARTS, json.dumps(known).encode())
            self.starts = {Partition.parse(name): at for name, at in known.items()}

    def record(self, key: bytes, value: bytes) -> None:
        """Write something beside the checkpoints, under a key that begins with a NUL."""
        self._write(key, value)
        self.records[key] = value

    def recognise(self, identities: Mapping[str, str]) -> None:
        """Write which streams these are, by their names in the system."""
        known = self.identities | dict(identities)
        if known != self.identities:
            self._write(IDENTITIES, json.dumps(known).encode())
            self.identities = known

    def recreated_topics(self, topics: Collection[str]) -> frozenset[str]:
        """The topics that are not the ones that were known by these names."""
        found = self.system.identities(set(topics) & self.identities.keys())
        return frozenset(topic for topic, identity in found.items() if self.identities[topic] != identity)

    def forget(self, partitions: Collection[Partition]) -> None:
        """Write that nothing of these was read yet, in whichever checkpoint they stand."""
        lost = set(partitions)
        expected, after = {}, {}
        for task, text in self.checkpoints.items():
            before = Checkpoint.decode(text.encode())
            kept = {partition: at for partition, at in before.positions.items() if partition not in lost}
            if len(kept) < len(before.positions):
                expected[task.encode()] = text.encode()
                after[task] = replace(before, positions=kept).encode()
        starts = {str(partition): at for partition, at in self.starts.items() if partition not in lost}
        transaction = self.system.begin(self.stream, self.incarnation, expected, DRIVER_WRITER)
        for task, checkpoint in after.items():
            transaction.put(self.stream, task.encode(), checkpoint)
        transaction.put(self.stream, STARTS, json.dumps(starts).encode())
        transaction.commit()
        self.starts = {Partition.parse(name): at for name, at in starts.items()}
        self.checkpoints |= {task: checkpoint.decode() for task, checkpoint in after.items()}

    def of_tasks(self) -> dict[str, Mapping[Partition, int]]:
        """The next record of every partition, by the task that read it."""
        return {task: Checkpoint.decode(text.encode()).positions for task, text in self.checkpoints.items()}

    def _interrupt(self) -> None:
        """Void what lanes may have open, before anything is read to the end: a dead one would hold it up."""
        self.system.interrupt(self.stream, _writers(self.system.latest(self.stream, settled=False)))

    def _write(self, key: bytes, value: bytes) -> None:
        self._put({key: value})

    def _put(self, entries: Mapping[bytes, bytes | None]) -> None:
        transaction = self.system.begin(self.stream, self.incarnation, writer=DRIVER_WRITER)
        for key, value in entries.items():
            transaction.put(self.stream, key, value)
        transaction.commit()

    def _read(self) -> None:
        found: Mapping[bytes, bytes] = self.system.latest(self.stream)
        if LAYOUT in found:
            layout = decode_layout(found[LAYOUT].decode(errors="replace"))
            if isinstance(layout, Refusal):
                raise LayoutUnreadableError(f"{self.stream}, partition 0: {layout}")
            self.layout = layout
        starts: dict[str, int] = json.loads(found.get(STARTS, b"{}"))
        self.starts = {Partition.parse(name): at for name, at in starts.items()}
        self.identities = json.loads(found.get(IDENTITIES, b"{}"))
        self.records = {key: value for key, value in found.items() if key.startswith(b"\x00")}
        tasks = {key: value for key, value in found.items() if key not in self.records}
        for task, value in tasks.items():
            decode_task_checkpoint(self.stream, task.decode(), value)
        self.checkpoints = {key.decode(): value.decode() for key, value in tasks.items()}


def _writers(found: Mapping[bytes, bytes]) -> frozenset[str]:
    """All lanes that ever wrote, as they were recorded."""
    return frozenset(json.loads(found.get(WRITERS, b"[]")))

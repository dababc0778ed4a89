"""The turns of a batch app: each reads on to where its inputs ended when the turn began, and then it is over.

The tables that an app in stream mode reads are a turn that has no number: they end, and the app does not.

Written before the first batch, so that a driver that begins anew in the middle of a turn goes on to the same
ends. A start after a turn is over begins the next one, with everything that has come since.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.checkpoint_entries import BOUNDED_TURN
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange


@dataclass(frozen=True, slots=True)
class BoundedTurn:
    """One turn: its number, counted from 1 or 0 in stream mode, and the end of each partition that ends."""

    number: int
    ends: Mapping[Partition, int]
    over: bool = False

    def inputs(self) -> frozenset[str]:
        """The streams that end. A partition that came to one of them later is not read in this turn."""
        return frozenset(partition.stream for partition in self.ends)

    def document(self) -> dict[str, object]:
        """The turn as it is recorded."""
        ends = {str(partition): end for partition, end in sorted(self.ends.items())}
        return {"turn": self.number, "ends": ends, "over": self.over}

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "BoundedTurn":
        """The turn in a document."""
        ends = {Partition.parse(name): int(end) for name, end in fields["ends"].items()}
        return cls(int(fields["turn"]), ends, bool(fields["over"]))


def last_turn(ledger: CheckpointStream) -> BoundedTurn | None:
    """The turn that was recorded last."""
    return BOUNDED_TURN.read(ledger.entries, ledger.stream, BoundedTurn.parse)


def take_turn(ledger: CheckpointStream, ends: Mapping[Partition, int]) -> BoundedTurn:
    """The turn that continues; where there is none a new one, with these ends.

    One that continues ends nowhere beyond them: what is lost of a partition is not waited for.
    """
    last = last_turn(ledger)
    if last is not None and not last.over:
        left = {partition: min(end, ends.get(partition, end)) for partition, end in last.ends.items()}
        return replace(last, ends=left)
    turn = BoundedTurn(last.number + 1 if last else 1, ends)
    ledger.record(BOUNDED_TURN, turn.document())
    return turn


def end_turn(ledger: CheckpointStream, turn: BoundedTurn) -> None:
    """Note that a turn is over."""
    ledger.record(BOUNDED_TURN, replace(turn, over=True).document())


def within_turn(turn: BoundedTurn | None, ranges: Iterable[PendingRange]) -> list[PendingRange]:
    """The ranges that there are to read in a turn."""
    if turn is None:
        return list(ranges)
    inputs = turn.inputs()
    cut = [
        replace(d, end=min(d.end, turn.ends.get(d.partition, 0))) if d.partition.stream in inputs else d
        for d in ranges
    ]
    return [one for one in cut if one.lag > 0]


def refuse_unreachable_end(turn: BoundedTurn | None, spans: Mapping[Partition, OffsetSpan]) -> None:
    """FailedError where records up to the end of a turn are lost: the next start ends it before them."""
    for partition, end in sorted(turn.ends.items()) if turn else ():
        if partition in spans and spans[partition].end < end:
            raise FailedError(
                f"{partition} ends at {spans[partition].end}, and the turn was to read it up to {end};"
                " the next start reads what there is"
            )


def awaiting_histories(
    turn: BoundedTurn | None,
    histories: Mapping[str, str],
    reached: Mapping[tuple[str, Partition], int],
) -> frozenset[str]:
    """The streams that come after a table of which a task has rows left to read; histories go by stream."""
    if turn is None or not histories:
        return frozenset()
    unread = {p.stream for (_, p), at in reached.items() if at < turn.ends.get(p, 0)}
    return frozenset(stream for stream, history in histories.items() if history in unread)


def left_to_read(
    pending: Iterable[PendingRange], ranges: Iterable[PendingRange]
) -> set[tuple[str, Partition]]:
    """By task, the partitions of which something is left to read after a batch that reads these ranges."""
    left = {(d.task, d.partition): d.end for d in pending}
    for one in ranges:
        if left.get((one.task, one.partition)) == one.end:
            del left[one.task, one.partition]
    return set(left)


def partitions_at_end(
    turn: BoundedTurn,
    tasks: Mapping[str, Collection[Partition]],
    left: Collection[tuple[str, Partition]],
    reached: Mapping[tuple[str, Partition], int],
) -> dict[str, tuple[tuple[str, int], ...]]:
    """By task, the partitions of which the turn has nothing left.

    What a system shows of a partition may be old: that there is nothing to read is no end before `reached`,
    where a task reads on after the batch, is at it.
    """
    inputs = turn.inputs()

    def done(task: str, partition: Partition) -> bool:
        end = turn.ends.get(partition, 0)
        return (task, partition) not in left and reached.get((task, partition), end) >= end

    return {
        task: tuple((p.stream, p.index) for p in parts if p.stream in inputs and done(task, p))
        for task, parts in tasks.items()
    }

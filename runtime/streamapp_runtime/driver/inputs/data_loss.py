"""Records that went before they were read: by retention, by truncation, or with the whole topic."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from streamapp.tasks.layouts.split import Split, settled_again, within_ends
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DATA_LOSS_HINT, CheckpointStream
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.app_systems import Systems

SHRUNK_SECONDS = 10.0
"""How long an end may lie before a position: a broker that has just taken over may not know its end yet."""
CHECK_SECONDS = 5.0
"""How often topics are asked whether they are still the same, while none ends before a position in it."""


@dataclass(slots=True)
class DataLoss:
    """The reaction of an app when records that it had not read are gone."""

    systems: Systems
    ledger: CheckpointStream
    streams: frozenset[str]  # all that tasks read by position
    goes_on: bool  # from the oldest record; else the app ends
    clock: Callable[[], float]  # seconds that pass
    now: Callable[[], float]  # seconds since the epoch, as splits are stamped
    reported: Callable[[str], None] = lambda _: None  # called with which records are lost
    repeated: Collection[str] = ()  # streams that the app clears, and that a late checkpoint may go back in
    recreated: frozenset[str] = frozenset()  # streams that are to be given up once their tasks are idle
    _identities: Mapping[str, str] = field(default_factory=dict)  # by stream, as of the last check
    _checked: float = float("-inf")
    _shrunk: dict[Partition, float] = field(default_factory=dict)  # since when it ends before a position
    _unreachable: dict[Partition, float] = field(default_factory=dict)  # the same with a split offset
    _epochs: dict[Partition, int] = field(default_factory=dict)  # of leaders, as they are recorded

    def give_up_lost(
        self,
        positions: Mapping[tuple[str, Partition], int],
        spans: Mapping[Partition, OffsetSpan],
        busy: Collection[Partition] = (),
    ) -> bool:
        """True if positions were given up, where nothing can be read; FinalFailureError where none may be.

        A recreated topic is given up as a whole, when no task is `busy` with partitions of it.
        """
        streams = self.streams & {partition.stream for partition in spans}
        self._check_identities(streams, at_once=any(at > spans[p].end for (_, p), at in positions.items()))
        cleared: set[Partition] = set()  # a later checkpoint said that all of this was read
        lost_ranges: dict[Partition, str] = {}
        furthest: dict[Partition, int] = {}
        for (_, partition), at in positions.items():
            oldest = spans[partition].oldest
            if partition.stream in self.recreated:
                continue
            furthest[partition] = max(at, furthest.get(partition, 0))
            if at < oldest and partition.stream in self.repeated:
                cleared.add(partition)
            elif at < oldest:
                lost_ranges[partition] = f"{partition}: records from {at} to {oldest} went unread"
        for partition in self._beyond_end(furthest, spans, self._shrunk):
            end, at = spans[partition].end, furthest[partition]
            lost_ranges[partition] = f"{partition}: it ends at {end}, and was read up to {at} before"
        new_epochs = {p: spans[p].epoch for p in furthest if 0 <= spans[p].epoch != self._epochs.get(p)}
        for partition, end in self._cut_histories(new_epochs, furthest).items():
            lost_ranges[partition] = (
                f"{partition}: its next leader has it up to {end}, and it was read up to "
                f"{furthest[partition]} before"
            )
        if cleared:
            self.ledger.forget(cleared)
        lost_offsets = self._lost_offsets(spans)
        due = self.recreated
        if self.goes_on and any(partition.stream in due for partition in busy):
            due = frozenset()
        if lost_ranges or lost_offsets or due:
            self._give_up(lost_ranges, lost_offsets, due, spans)
        if new_epochs:  # before anything is read that these leaders have
            self.ledger.note_epochs({self._address(p): epoch for p, epoch in new_epochs.items()})
            self._epochs |= new_epochs
        return bool(cleared or lost_ranges or lost_offsets or due)

    def _check_identities(self, streams: frozenset[str], *, at_once: bool) -> None:
        now = self.clock()
        if at_once or now - self._checked > CHECK_SECONDS:
            self._checked = now
            self._identities = self.systems.identities(streams)
            new = self.ledger.recreated_topics(self._of_topics(self._identities))
            self.recreated = frozenset(stream for stream in self.streams if self._topic(stream) in new)

    def _cut_histories(
        self, epochs: Mapping[Partition, int], offsets: Mapping[Partition, int]
    ) -> dict[Partition, int]:
        """The partitions whose next leader lacks records that were read, and where its history goes on.

        What it has taken since may reach beyond the offset, so that the end of the partition does not tell.
        """
        recorded = {p: self.ledger.epochs.get(self._address(p), epoch) for p, epoch in epochs.items()}
        earlier = {p: epoch for p, epoch in recorded.items() if epoch < epochs[p]}
        read = {p for positions in self.ledger.positions().values() for p in positions} if earlier else set()
        ends = self.systems.epoch_ends({p: earlier[p] for p in earlier.keys() & read})
        return {partition: end for partition, end in ends.items() if end < offsets[partition]}

    def _lost_offsets(self, spans: Mapping[Partition, OffsetSpan]) -> dict[Partition, str]:
        """The partitions that end before where they ended when their stream grew: nothing gets there."""
        offsets: dict[Partition, int] = {}
        for split in self._splits:
            for index, offset in enumerate(split.offsets or ()):
                partition = Partition(split.stream, index)
                if split.stream in self.streams and split.stream not in self.recreated:
                    offsets[partition] = max(offset, offsets.get(partition, 0))
        return {
            partition: f"{partition}: it ends at {spans[partition].end}, and had ended at "
            f"{offsets[partition]} when {partition.stream} grew"
            for partition in self._beyond_end(offsets, spans, self._unreachable)
        }

    def _beyond_end(
        self,
        offsets: Mapping[Partition, int],
        spans: Mapping[Partition, OffsetSpan],
        since: dict[Partition, float],
    ) -> list[Partition]:
        """The partitions that have ended before these offsets for longer than a broker takes to know."""
        now = self.clock()
        beyond = {p for p, offset in offsets.items() if p in spans and offset > spans[p].end}
        for partition in since.keys() - beyond:
            del since[partition]
        return [p for p in sorted(beyond) if now - since.setdefault(p, now) > SHRUNK_SECONDS]

    def _give_up(
        self,
        lost_ranges: Mapping[Partition, str],
        lost_offsets: Mapping[Partition, str],
        recreated: frozenset[str],
        spans: Mapping[Partition, OffsetSpan],
    ) -> None:
        ledger = self.ledger
        known_positions = [*ledger.positions().values(), ledger.starts]
        of_recreated = {p for known in known_positions for p in known if p.stream in recreated}
        reasons = {*lost_ranges.values(), *lost_offsets.values()} | {
            f'topic "{self._topic(partition.stream)}" was deleted and made again'
            for partition in of_recreated
        }
        reason = "; ".join(sorted(reasons))
        if reason and not self.goes_on:
            raise FinalFailureError(f"{reason}; {DATA_LOSS_HINT}")
        ends = {partition: spans[partition].end for partition in {*lost_ranges, *lost_offsets}}
        splits = settled_again(within_ends(self._splits, ends), recreated, self.now())
        layout = replace(ledger.layout, splits=splits) if ledger.layout else None
        identities = self._of_topics({stream: self._identities[stream] for stream in recreated})
        ledger.forget(of_recreated | lost_ranges.keys(), layout, identities)
        self.recreated -= recreated
        if reason:
            self.reported(f"{reason}; continuing from the oldest record there is")

    def _topic(self, stream: str) -> str:
        return self.systems.connections.label(stream)

    def _address(self, partition: Partition) -> str:
        return str(Partition(self._topic(partition.stream), partition.index))

    def _of_topics(self, identities: Mapping[str, str]) -> dict[str, str]:
        return {self._topic(stream): identity for stream, identity in identities.items()}

    @property
    def _splits(self) -> tuple[Split, ...]:
        return self.ledger.layout.splits if self.ledger.layout else ()

"""Records that went before they were read: by retention, by truncation, or with the whole topic."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DATA_LOSS_HINT, CheckpointStream
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.stream_system import OffsetSpan, StreamSystem

SHRUNK_SECONDS = 10.0
"""How long an end may lie before a position: a broker that has just taken over may not know its end yet."""
CHECK_SECONDS = 5.0
"""How often topics are asked whether they are still the same."""


@dataclass(slots=True)
class DataLoss:
    """What an app does when records that it had not read are gone."""

    system: StreamSystem
    ledger: CheckpointStream
    topics: Mapping[str, str]  # stream -> topic, of all that tasks read by position
    goes_on: bool  # from the oldest record; else the app ends
    clock: Callable[[], float]
    reported: Callable[[str], None] = lambda _: None  # called with which records are lost
    repeated: Collection[str] = ()  # streams that the app clears, and that a late checkpoint may go back in
    _shrunk: dict[Partition, float] = field(default_factory=dict)
    _checked: float = float("-inf")

    def give_up_lost(
        self, positions: Mapping[tuple[str, Partition], int], spans: Mapping[Partition, OffsetSpan]
    ) -> bool:
        """Whether positions were given up, where nothing can be read; FinalFailureError where none may be."""
        now = self.clock()
        lost_ranges: dict[Partition, str] = {}
        cleared: set[Partition] = set()  # a later checkpoint said that all of this was read
        for (_, partition), at in positions.items():
            span = spans[partition]
            if at < span.oldest and partition.stream in self.repeated:
                cleared.add(partition)
            elif at < span.oldest:
                lost_ranges[partition] = f"{partition}: records from {at} to {span.oldest} went unread"
            elif at > span.end and now - self._shrunk.setdefault(partition, now) > SHRUNK_SECONDS:
                lost_ranges[partition] = f"{partition}: it ends at {span.end}, and was read up to {at} before"
            elif at <= span.end:
                self._shrunk.pop(partition, None)
        if now - self._checked > CHECK_SECONDS:
            self._checked = now
            lost_ranges |= self._of_new_topics(positions)
        if cleared:
            self.ledger.forget(cleared)
        if lost_ranges:
            self._give_up(lost_ranges)
        return bool(lost_ranges or cleared)

    def _of_new_topics(self, positions: Mapping[tuple[str, Partition], int]) -> dict[Partition, str]:
        new = self.ledger.recreated_topics(self.topics.values())
        reasons = {topic: f'topic "{topic}" was deleted and made again' for topic in new}
        return {p: reasons[self.topics[p.stream]] for _, p in positions if self.topics.get(p.stream) in new}

    def _give_up(self, lost_ranges: Mapping[Partition, str]) -> None:
        reason = "; ".join(sorted(set(lost_ranges.values())))
        if not self.goes_on:
            raise FinalFailureError(f"{reason}; {DATA_LOSS_HINT}")
        self.ledger.forget(lost_ranges.keys())
        self.ledger.recognise(self.system.identities({self.topics[p.stream] for p in lost_ranges}))
        for partition in lost_ranges:
            self._shrunk.pop(partition, None)
        self.reported(f"{reason}; continuing from the oldest record there is")

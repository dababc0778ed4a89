"""Records that are lost while an app runs: what it gives up, and when."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DRIVER_WRITER, CheckpointStream
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.driver.inputs.data_loss import CHECK_SECONDS, SHRUNK_SECONDS, DataLoss
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem
from tests.harness.runs.app_runs import inputs, write_all

VIEWS = [Partition("views", index) for index in range(4)]
POSITIONS = {("t0", VIEWS[0]): 5, ("t1", VIEWS[1]): 7}


@dataclass(slots=True)
class Losing:
    """What two tasks have read of a stream that had grown from two to four partitions."""

    system: EmbeddedSystem
    ledger: CheckpointStream
    goes_on: bool = True
    seconds: float = 0.0
    reasons: list[str] = field(default_factory=list)
    data_loss: DataLoss = field(init=False)

    def __post_init__(self) -> None:
        self.data_loss = DataLoss(
            systems=OneSystem(self.system),
            ledger=self.ledger,
            streams=frozenset({"views"}),
            goes_on=self.goes_on,
            clock=lambda: self.seconds,
            now=lambda: 1_000 + self.seconds,
            reported=self.reasons.append,
        )

    def look(self, *busy: Partition) -> bool:
        positions = {pair: at for pair, at in POSITIONS.items() if pair[1] not in busy}
        return self.data_loss.give_up_lost(positions, OneSystem(self.system).spans(VIEWS), busy)

    def recreate(self) -> None:
        self.system.delete("views")
        self.system.create("views", 4)
        self.seconds += CHECK_SECONDS + 1

    @property
    def split(self) -> Split:
        assert self.ledger.layout is not None
        return self.ledger.layout.splits[0]


def opened(folder: Path, *, goes_on: bool = True, kind: type[EmbeddedSystem] = EmbeddedSystem) -> Losing:
    system = kind(folder)
    write_all(system, "views", inputs([{"user": f"u{number}"} for number in range(99)], "user"), 4)
    ledger = CheckpointStream(system, "app.checkpoint")
    ledger.open("run")
    split = Split("views", 2, 4, 0.0, offsets=(5, 7))
    ledger.remember(Layout("run", "byPartition", splits=(split,)))
    transaction = system.begin(ledger.stream, ledger.incarnation, writer=DRIVER_WRITER)
    for (task, partition), at in POSITIONS.items():
        text = Checkpoint("run", positions={partition: at}).encode()
        transaction.put(ledger.stream, task.encode(), text)
        ledger.checkpoints[task] = text.decode()
    transaction.commit()
    ledger.recognise(system.identities(["views"]))
    return Losing(system, ledger, goes_on)


@pytest.fixture
def losing(tmp_path: Path) -> Iterator[Losing]:
    opened_losing = opened(tmp_path)
    yield opened_losing
    opened_losing.system.close()


def test_a_recreated_topic_is_given_up_once_none_of_its_tasks_is_busy(losing: Losing) -> None:
    """A busy task still reports positions in the last topic: they would be taken for some of this one."""
    assert not losing.look()
    losing.recreate()
    assert not losing.look(VIEWS[1])
    assert losing.data_loss.recreated == {"views"}
    assert losing.look()
    assert losing.reasons == [
        'topic "views" was deleted and made again; continuing from the oldest record there is'
    ]
    assert losing.ledger.positions() == {"t0": {}, "t1": {}}
    assert (losing.split.seen_at, losing.split.offsets) == (1_000 + losing.seconds, None)
    assert not losing.look()


def test_all_of_it_is_written_at_once(losing: Losing) -> None:
    losing.recreate()
    losing.look()
    later = CheckpointStream(losing.system, losing.ledger.stream)
    later.look()
    assert later.layout == losing.ledger.layout
    assert later.identities == losing.system.identities(["views"])
    assert later.positions() == {"t0": {}, "t1": {}}


def test_a_split_offset_that_no_record_reaches_any_more_is_taken_back_to_the_end(losing: Losing) -> None:
    split = replace(losing.split, offsets=(5, 900))
    losing.ledger.remember(Layout("run", "byPartition", splits=(split,)))
    assert not losing.look()
    losing.seconds += SHRUNK_SECONDS + 1
    assert losing.look()
    end = OneSystem(losing.system).spans(VIEWS)[VIEWS[1]].end
    assert losing.split.offsets == (5, end)
    assert losing.ledger.positions() == {"t0": {VIEWS[0]: 5}, "t1": {VIEWS[1]: 7}}
    assert losing.reasons == [
        f"views#1: it ends at {end}, and had ended at 900 when views grew;"
        " continuing from the oldest record there is"
    ]


class LedLog(EmbeddedSystem):
    """A log whose partitions have leaders, which know where the epochs of earlier ones ended."""

    epoch = 0
    epoch_end = 0  # of every earlier epoch, in partition 1

    def spans(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, OffsetSpan]:
        return {one: replace(span, epoch=self.epoch) for one, span in super().spans(partitions).items()}

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        assert all(epoch < self.epoch for epoch in epochs.values())
        return {one: self.epoch_end for one in epochs if one.index == VIEWS[1].index}


def test_what_a_later_leader_lacks_is_lost_though_it_has_other_records_by_then(tmp_path: Path) -> None:
    losing = opened(tmp_path, kind=LedLog)
    log = losing.system
    assert isinstance(log, LedLog)
    with closing(log):
        for log.epoch, log.epoch_end, is_lost in ((0, 0, False), (1, 7, False), (1, 6, False), (3, 6, True)):
            assert losing.look() == is_lost
        assert losing.ledger.positions() == {"t0": {VIEWS[0]: 5}, "t1": {}}
        assert losing.reasons == [
            "views#1: its next leader has it up to 6, and it was read up to 7 before;"
            " continuing from the oldest record there is"
        ]


def test_what_a_later_leader_lacks_is_lost_though_no_driver_ran_when_it_took_over(tmp_path: Path) -> None:
    first = opened(tmp_path, kind=LedLog)
    log = first.system
    assert isinstance(log, LedLog)
    with closing(log):
        assert not first.look()
        log.epoch, log.epoch_end = 2, 6
        ledger = CheckpointStream(log, "app.checkpoint")
        ledger.open("run")
        second = Losing(log, ledger)
        assert (second.look(), second.look()) == (True, False)
        assert second.ledger.positions() == {"t0": {VIEWS[0]: 5}, "t1": {}}
        log.epoch = 3
        assert not second.look()  # nothing is read of the partition: what the next leader lacks is not lost


def test_an_app_that_may_lose_nothing_ends_at_once(tmp_path: Path) -> None:
    losing = opened(tmp_path, goes_on=False)
    losing.recreate()
    with pytest.raises(FinalFailureError, match="was deleted and made again; with onDataLoss: earliest"):
        losing.look(VIEWS[1])
    losing.system.close()

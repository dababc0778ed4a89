"""Drivers that follow one another, or start at the same moment: one of them goes on, the others end."""

from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.incarnation import check_newest
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import FencedError
from tests.harness.engine.overtaken_log import STREAM, OvertakenLog

WRITTEN = Checkpoint("run").encode().decode()


class Noting(EmbeddedSystem):
    """A log that notes whom it is told to fence."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.fenced: list[set[str]] = []

    def fence(self, owner: str, incarnation: int, writers: Collection[str] = ()) -> None:
        self.fenced.append(set(writers))
        super().fence(owner, incarnation, writers)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    yield system
    system.close()


def opened(system: EmbeddedSystem, run: str = "run") -> CheckpointStream:
    ledger = CheckpointStream(system, STREAM)
    ledger.open(run)
    return ledger


def checkpointed(ledger: CheckpointStream, task: str, text: str) -> None:
    transaction = ledger.system.begin(STREAM, ledger.incarnation)
    transaction.put(STREAM, task.encode(), text.encode())
    transaction.commit()


def test_each_start_is_one_incarnation_further_in_the_same_run(system: EmbeddedSystem) -> None:
    first, second = opened(system, "one"), opened(system, "two")
    assert (first.incarnation, second.incarnation) == (1, 2)
    assert second.run_id == "one"


def test_what_an_earlier_driver_had_in_hand_is_not_written_after_another_started(
    system: EmbeddedSystem,
) -> None:
    first = opened(system)
    transaction = system.begin(STREAM, first.incarnation)
    transaction.put(STREAM, b"task-0", WRITTEN.encode())
    second = opened(system)
    with pytest.raises(FencedError):
        transaction.commit()
    assert not second.checkpoints


def test_what_an_earlier_driver_had_committed_is_known_to_the_next(system: EmbeddedSystem) -> None:
    checkpointed(opened(system), "task-0", WRITTEN)
    assert opened(system).checkpoints == {"task-0": WRITTEN}


def test_a_driver_that_recovers_reads_what_was_committed_behind_its_back(system: EmbeddedSystem) -> None:
    ledger = opened(system)
    checkpointed(ledger, "task-0", WRITTEN)
    assert not ledger.checkpoints
    ledger.raise_incarnation()
    assert (ledger.incarnation, ledger.checkpoints) == (2, {"task-0": WRITTEN})


def test_a_driver_that_was_replaced_cannot_recover(system: EmbeddedSystem) -> None:
    first = opened(system)
    second = opened(system)
    with pytest.raises(FencedError):
        first.raise_incarnation()
    second.raise_incarnation()  # and does not stand in the way of the one that replaced it


def test_a_driver_that_was_replaced_sees_it_when_it_looks(system: EmbeddedSystem) -> None:
    first = opened(system)
    first.check()
    opened(system)
    with pytest.raises(FencedError, match="incarnation 2 has taken over"):
        first.check()


@pytest.mark.parametrize("rivals", [1, 3])
def test_drivers_that_start_at_the_same_moment_never_share_an_incarnation(
    tmp_path: Path, rivals: int
) -> None:
    system = OvertakenLog(tmp_path, rivals)
    ledger = opened(system)
    assert ledger.incarnation == rivals + 1
    ledger.check()
    system.close()


def test_a_driver_that_others_overtake_again_and_again_gives_up(tmp_path: Path) -> None:
    system = OvertakenLog(tmp_path, 1000)
    with pytest.raises(FencedError, match="other drivers started meanwhile"):
        opened(system)
    system.close()


def test_all_who_ever_wrote_are_fenced_whoever_writes_now(tmp_path: Path) -> None:
    system = Noting(tmp_path)
    for lanes in [["processor-0", "processor-1"], ["processor-0"]]:
        opened(system).expect(lanes)
    opened(system)
    assert system.fenced == [set(), {"processor-0", "processor-1"}, {"processor-0", "processor-1"}]
    system.close()


def test_a_worker_of_the_newest_incarnation_is_not_told_to_end(system: EmbeddedSystem) -> None:
    ledger = opened(system)
    check_newest(system, STREAM, ledger.incarnation)

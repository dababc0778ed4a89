"""What a lane writes at the end of a batch: everything of it once, or nothing."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, CheckpointUnreadableError
from streamapp_runtime.lanes.batches.lane_commit import CommitResult, LaneCommit
from streamapp_runtime.lanes.protocol.batch_orders import LaneOrder, Orders, ReadRange, TaskOrder
from streamapp_runtime.lanes.records.record_collector import RecordCollector
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.operators.state.changelog_buffer import ChangelogBuffer
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

OWNER = "app.checkpoint"
SHELF = StoreSpec("users", StoreKind.LMDB, "schema", "app.users.changelog")
CHANGELOG = TopicPartition("app.users.changelog", 0)
READ = (ReadRange("views", 0, 0, 10),)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    system.create(OWNER, 1, StreamOptions(compacted=True))
    system.create(CHANGELOG.topic, 1, StreamOptions(compacted=True))
    yield system
    system.close()


def commit(
    system: EmbeddedSystem,
    *tasks: TaskOrder,
    attempt: str = "1.1.0",
    failed: frozenset[int] = frozenset(),
    changed: int = 1,
) -> CommitResult:
    """A batch in which the first task writes so many entries to its table."""
    lane = LaneOrder("processor-0", tasks)
    changes = ChangelogBuffer()
    keys = pa.array([f"key-{number}".encode() for number in range(changed)], pa.binary())
    changes.add(0, "users", keys, keys)
    orders = Orders(1, 1, 0, (lane,))
    outbox = RecordCollector({}, {}, 0)
    specs = {"users": SHELF}
    ledger = LaneCommit(orders, lane, attempt, outbox, changes, failed, specs, "run", OWNER, frozenset())
    return ledger.commit(OneSystem(system))


def written(system: EmbeddedSystem) -> int:
    return system.spans([CHANGELOG])[CHANGELOG].end


def test_a_checkpoint_says_what_was_read_and_how_far_the_changelog_goes(system: EmbeddedSystem) -> None:
    done = commit(system, TaskOrder("task-0", 0, "", READ), changed=3)
    expected = Checkpoint("run", "1.1.0", {Partition("views", 0): 10}, {"users": 3})
    assert Checkpoint.decode(done.checkpoints[0]) == expected
    assert system.latest(OWNER)[b"task-0"] == done.checkpoints[0]
    assert written(system) == 3


def test_a_batch_that_is_made_again_after_it_was_committed_writes_nothing(system: EmbeddedSystem) -> None:
    order = TaskOrder("task-0", 0, "", READ)
    commit(system, order)
    with pytest.raises(FencedError, match=r'^the entry "[^"]+" in "[^"]+" is not the expected one: it was'):
        commit(system, order, attempt="1.1.1")
    assert written(system) == 1


def test_a_batch_on_top_of_the_last_checkpoint_goes_on_from_it(system: EmbeddedSystem) -> None:
    first = commit(system, TaskOrder("task-0", 0, "", READ)).checkpoints[0]
    then = TaskOrder("task-0", 0, first.decode(), (ReadRange("views", 1, 0, 5),))
    done = Checkpoint.decode(commit(system, then, attempt="1.2.0").checkpoints[0])
    assert done.positions == {Partition("views", 0): 10, Partition("views", 1): 5}
    assert done.changelogs == {"users": 2}


def test_one_task_with_another_checkpoint_keeps_the_whole_lane_from_writing(system: EmbeddedSystem) -> None:
    commit(system, TaskOrder("task-1", 0, "", READ), changed=0)
    with pytest.raises(FencedError):
        commit(system, TaskOrder("task-0", 0, "", READ), TaskOrder("task-1", 0, "", READ))
    assert b"task-0" not in system.latest(OWNER)
    assert written(system) == 0


def test_a_lane_of_an_earlier_incarnation_writes_nothing(system: EmbeddedSystem) -> None:
    system.fence(OWNER, 2)
    with pytest.raises(FencedError, match="incarnation 2"):
        commit(system, TaskOrder("task-0", 0, "", READ))
    assert written(system) == 0


def test_a_task_that_failed_is_left_out_and_the_others_go_on(system: EmbeddedSystem) -> None:
    tasks = TaskOrder("task-0", 0, "", READ), TaskOrder("task-1", 0, "", READ)
    done = commit(system, *tasks, failed=frozenset({0}))
    assert done.checkpoints.keys() == {1}
    assert system.latest(OWNER).keys() == {b"task-1"}
    assert written(system) == 0


def test_a_task_that_did_nothing_keeps_its_checkpoint(system: EmbeddedSystem) -> None:
    assert not commit(system, TaskOrder("task-0", 0, ""), changed=0).checkpoints
    assert not system.latest(OWNER)


def test_a_task_that_wrote_to_its_table_without_reading_moves_its_checkpoint(system: EmbeddedSystem) -> None:
    done = commit(system, TaskOrder("task-0", 0, ""))
    assert Checkpoint.decode(done.checkpoints[0]).changelogs == {"users": 1}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"torn", "it is no JSON"),
        (b'{"format": 1}', 'it has no field "positions"'),
        (b'{"format": 1, "positions": {"views#0": "x"}}', "a field of it is of another type or form"),
    ],
)
def test_a_checkpoint_that_cannot_be_read_is_told_in_words_for_people(text: bytes, fault: str) -> None:
    with pytest.raises(CheckpointUnreadableError, match=f"^the checkpoint cannot be read: {fault}; restore"):
        Checkpoint.decode(text)

"""A task's stores are brought to what its checkpoint says, whatever became of the worker that had them."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.lanes.task_stores.lane_stores import TOMBSTONES_KEPT_MS, RestoreProgress
from streamapp_runtime.stores.directories.state_directory import state_directory
from streamapp_runtime.stores.store import StoreBusyError, StoreKind, StoreMark
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import FencedError, StreamOptions
from tests.harness.engine.changelog_task import STREAM, ChangelogTask
from tests.harness.engine.one_system import OneSystem

ROOT = Path(__file__).parents[4]
KINDS = [StoreKind.LMDB, StoreKind.ROCKSDB]


@pytest.fixture(params=KINDS)
def task(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChangelogTask]:
    system = EmbeddedSystem(tmp_path / "log")
    system.create("app.checkpoint", 1, StreamOptions(compacted=True))
    system.create(STREAM, 1, StreamOptions(compacted=True))
    task = ChangelogTask(tmp_path / "state", request.param, system)
    task.settle()
    yield task
    task.lane_stores.release()
    system.close()


def test_writes_of_a_batch_are_kept_once_it_was_committed(task: ChangelogTask) -> None:
    task.batch(ann="1", bob="2")
    assert task.settle() == RestoreProgress()
    assert (task.content(), task.mark().changelog) == ({"ann": "1", "bob": "2"}, 2)


def test_writes_of_a_batch_that_was_not_committed_are_dropped(task: ChangelogTask) -> None:
    task.batch(ann="1")
    task.settle()
    task.write(ann="wrong", cid="wrong")
    assert task.settle() == RestoreProgress()
    assert task.content() == {"ann": "1"}


def test_a_worker_that_died_with_committed_writes_pending_is_replaced_by_one_that_replays_them(
    task: ChangelogTask,
) -> None:
    task.batch(ann="1")
    task.settle()
    task.batch(ann="2", bob="2")
    task.lane_stores.release()  # drops what is pending, as death does
    task.new_worker()
    assert task.settle() == RestoreProgress(restored=2)
    assert (task.content(), task.mark().changelog) == ({"ann": "2", "bob": "2"}, 3)


def test_a_restart_after_everything_was_settled_restores_nothing(task: ChangelogTask) -> None:
    task.batch(ann="1")
    task.settle()
    task.lane_stores.release()
    task.new_worker()
    assert task.settle() == RestoreProgress()
    assert task.content() == {"ann": "1"}


def test_a_store_that_is_lost_is_made_again_from_the_whole_changelog(task: ChangelogTask) -> None:
    task.batch(ann="1", bob="1")
    task.settle()
    task.batch(ann=None, cid="1")
    task.lane_stores.release()
    task.folder.rename(task.folder.with_name("lost"))
    task.new_worker()
    assert task.settle() == RestoreProgress(restored=4)
    assert task.content() == {"bob": "1", "cid": "1"}


def test_a_store_that_is_ahead_of_its_checkpoint_is_made_again(task: ChangelogTask) -> None:
    task.batch(ann="1")
    task.settle()
    before = task.checkpoint
    task.batch(ann="2", bob="2")
    task.settle()
    task.checkpoint = before
    assert task.settle() == RestoreProgress(restored=1)
    assert task.content() == {"ann": "1"}


def test_entries_of_a_run_that_was_given_up_come_into_no_store(task: ChangelogTask) -> None:
    task.batch(ann="old", bob="old")
    begin = task.checkpoint.changelogs["users"]
    task.checkpoint = Checkpoint("run")
    task.lane_stores.release()
    shutil.rmtree(task.folder)
    task.new_worker(begin)
    assert task.settle() == RestoreProgress()
    task.batch(bob="new")
    task.lane_stores.release()
    shutil.rmtree(task.folder)
    task.new_worker(begin)
    assert task.settle() == RestoreProgress(restored=1)
    assert task.content() == {"bob": "new"}


def test_a_store_too_old_for_the_deletions_it_missed_is_made_again(task: ChangelogTask) -> None:
    task.batch(ann="1", bob="1")
    task.settle()
    mark = task.mark()
    old = StoreMark(**{name: getattr(mark, name) for name in StoreMark.__slots__} | {"written_ms": 1})
    task.lane_stores.store("task-0", "users").set_mark(old)
    task.batch(bob=None)
    task.lane_stores.release()
    task.new_worker()
    settled = task.settle()
    assert settled == RestoreProgress(restored=3)
    assert settled.size == sum(map(len, ("ann", "1", "bob", "1", "bob")))
    assert task.content() == {"ann": "1"}
    assert task.mark().written_ms > TOMBSTONES_KEPT_MS


def test_a_restore_goes_on_where_time_ran_out_also_in_another_worker(task: ChangelogTask) -> None:
    for number in range(6):
        task.write(**{f"key-{number}": "1"})
        task.commit(**{f"key-{number}": "x" * 200_000})  # a block each
    task.lane_stores.release()
    restored = 0
    while True:
        task.new_worker()
        settled = task.settle(seconds=0)
        restored += settled.restored
        if not settled.left:
            break
        assert settled.restored + settled.left == 6 - (restored - settled.restored)
        task.lane_stores.release()
    assert restored == 6
    assert sorted(task.content()) == [f"key-{number}" for number in range(6)]


def test_tasks_that_went_to_another_lane_are_let_go(task: ChangelogTask) -> None:
    task.batch(ann="1")
    task.settle()
    task.lane_stores.release(keep=["task-1"])
    other = ChangelogTask(task.folder, task.kind, task.system, checkpoint=task.checkpoint)
    assert other.settle() == RestoreProgress()
    other.lane_stores.release()


@pytest.fixture
def kept_by_another(task: ChangelogTask) -> Iterator[subprocess.Popen[str]]:
    """The store is kept by an earlier worker of the same app."""
    task.lane_stores.release()
    task.new_worker()
    directory = state_directory(task.folder, "app", "task-0", "users")
    command = [sys.executable, "-m", "tests.harness.child_processes.store_holder", str(directory)]
    process = subprocess.Popen(
        [*command, "app", "run", "task-0", "users", "schema"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("task", [StoreKind.LMDB], indirect=True)
def test_an_earlier_worker_that_still_keeps_a_store_is_ended(
    task: ChangelogTask, kept_by_another: subprocess.Popen[str]
) -> None:
    task.lane_stores.wait_seconds = 0.0
    assert task.settle() == RestoreProgress()
    assert kept_by_another.wait() != 0


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("task", [StoreKind.LMDB], indirect=True)
def test_a_worker_whose_time_is_over_leaves_the_store_to_the_one_that_has_it(
    task: ChangelogTask, kept_by_another: subprocess.Popen[str]
) -> None:
    def replaced() -> None:
        raise FencedError("incarnation 2 has taken over")

    task.lane_stores.wait_seconds = 0.0
    with pytest.raises(FencedError):
        task.lane_stores.restore(task.order, OneSystem(task.system), time.monotonic(), replaced)
    assert kept_by_another.poll() is None


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("task", [StoreKind.LMDB], indirect=True)
def test_a_store_kept_by_another_app_is_busy(
    task: ChangelogTask, kept_by_another: subprocess.Popen[str]
) -> None:
    task.lane_stores.application_id = "other"
    task.lane_stores.wait_seconds = 0.0
    directory = state_directory(task.folder, "app", "task-0", "users")
    other = state_directory(task.folder, "other", "task-0", "users")
    other.parent.mkdir(parents=True)
    other.symlink_to(directory)
    with pytest.raises(StoreBusyError):
        task.settle()
    assert kept_by_another.poll() is None

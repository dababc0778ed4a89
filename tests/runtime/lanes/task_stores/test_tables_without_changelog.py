"""A table without a changelog is all there, or begins empty: never half of it, never what it was earlier."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.lanes.task_stores.lane_stores import LaneStores, RestoreProgress
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.engine.changelog_task import ChangelogTask, not_replaced
from tests.harness.engine.one_system import OneSystem

KINDS = [StoreKind.LMDB, StoreKind.ROCKSDB, StoreKind.MEMORY]


class TaskWithoutChangelog(ChangelogTask):
    """One task with one table of which no changelog is kept."""

    def new_worker(self) -> None:
        shelf = StoreSpec("users", self.kind, "schema", None)
        self.lane_stores = LaneStores(self.folder, "app", "run", {"users": shelf})

    def commit(self, **entries: str | None) -> None:
        count = self.checkpoint.changelogs.get("users", 0) + len(entries)
        self.checkpoint = Checkpoint("run", f"1.{self.batches}.0", {}, {"users": count})

    def end(self) -> None:
        """The worker ends; what is pending is dropped."""
        self.lane_stores.release()
        self.new_worker()


@pytest.fixture(params=KINDS)
def task(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TaskWithoutChangelog]:
    system = EmbeddedSystem(tmp_path / "log")
    task = TaskWithoutChangelog(tmp_path / "state", request.param, system)
    task.settle()
    yield task
    task.lane_stores.release()
    system.close()


def test_what_was_written_is_there_in_the_next_batch(task: TaskWithoutChangelog) -> None:
    task.batch(ann="1")
    assert task.settle() == RestoreProgress()
    task.batch(bob="2")
    task.settle()
    assert task.content() == {"ann": "1", "bob": "2"}


def test_after_an_end_in_good_order_it_is_all_there_if_it_is_on_disk(task: TaskWithoutChangelog) -> None:
    task.batch(ann="1")
    task.settle()
    task.end()
    assert task.settle() == RestoreProgress()
    assert task.content() == ({} if task.kind is StoreKind.MEMORY else {"ann": "1"})


def test_a_worker_that_died_with_committed_writes_leaves_it_empty_and_it_goes_on_from_there(
    task: TaskWithoutChangelog,
) -> None:
    task.batch(ann="1")
    task.settle()
    task.batch(ann="2", bob="2")
    task.end()  # before the writes were applied
    assert task.settle() == RestoreProgress()
    assert task.content() == {}
    task.batch(cid="3")
    task.settle()
    assert task.content() == {"cid": "3"}


def test_writes_that_were_not_committed_cost_nothing(task: TaskWithoutChangelog) -> None:
    task.batch(ann="1")
    task.settle()
    task.write(ann="wrong")
    task.settle()
    assert task.content() == {"ann": "1"}


def test_a_store_that_lay_here_while_its_task_was_elsewhere_is_not_gone_on_with(
    task: TaskWithoutChangelog,
) -> None:
    task.batch(ann="1")
    task.settle()
    task.lane_stores.release()
    task.commit(ann="2")  # on another host
    task.new_worker()
    task.lane_stores.restore(task.order, OneSystem(task.system), time.monotonic() + 60, not_replaced)
    assert task.content() == {}

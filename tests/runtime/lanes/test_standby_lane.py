"""Stores that a driver which stands by has restored are those from which its lanes go on."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from streamapp_runtime.lanes.batches.standby_lane import StandbySetup, packed_tasks, restore_standby_lane
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.task_stores.lane_stores import RestoreProgress
from streamapp_runtime.lanes.task_stores.store_specs import StoreSpec
from streamapp_runtime.lanes.worker_setup import WorkerSetup
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.connection import EmbeddedConnection, SystemConnections
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import StreamOptions
from tests.harness.engine.changelog_task import PLACE, STREAM, ChangelogTask


@pytest.fixture(params=[StoreKind.LMDB, StoreKind.ROCKSDB])
def former(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChangelogTask]:
    """The task on the executor of the driver that works."""
    system = EmbeddedSystem(tmp_path / "log")
    for stream in ("app.checkpoint", STREAM):
        system.create(stream, 1, StreamOptions(compacted=True))
    task = ChangelogTask(tmp_path / "former", request.param, system)
    task.settle()
    task.batch(ann="1", bob="1", cid="1")
    task.batch(ann="2", bob=None)
    yield task
    task.lane_stores.release()
    system.close()


def restored(setup: StandbySetup, order: TaskOrder, seconds: float = 60.0) -> RestoreProgress:
    ((lane, progress),) = restore_standby_lane(setup, seconds, 7, [packed_tasks([order])])
    assert lane == 7
    return progress


def setup_of(former: ChangelogTask, begin: int = 0) -> StandbySetup:
    log, state = former.folder.parent / "log", former.folder.parent / "standby"
    specs = {"users": StoreSpec("users", former.kind, "schema", STREAM)}
    connection, begins = EmbeddedConnection(str(log)), {PLACE: begin}
    setup = WorkerSetup(
        "app",
        "run",
        SystemConnections("main", {"main": connection}),
        str(state),
        "app.checkpoint",
        {},
        specs,
        begins=begins,
    )
    return StandbySetup(None, setup, {})


def next_task(former: ChangelogTask) -> ChangelogTask:
    """The task on the executor of the driver that has taken over."""
    task = ChangelogTask(Path(setup_of(former).setup.state), former.kind, former.system)
    task.checkpoint = former.checkpoint
    return task


def test_a_lane_goes_on_from_what_was_restored_before_it_was_bound(former: ChangelogTask) -> None:
    assert restored(setup_of(former), former.order) == RestoreProgress(restored=5)
    former.settle()
    former.batch(dan="3")
    following = next_task(former)
    assert following.settle() == RestoreProgress(restored=1)
    assert following.content() == {"ann": "2", "cid": "1", "dan": "3"}
    following.lane_stores.release()


def test_stores_follow_the_checkpoints_while_the_driver_waits(former: ChangelogTask) -> None:
    restored(setup_of(former), former.order)
    former.settle()
    former.batch(dan="3")
    assert restored(setup_of(former), former.order) == RestoreProgress(restored=1)
    assert restored(setup_of(former), former.order) == RestoreProgress()


def test_time_that_is_over_leaves_the_rest_for_the_next_look(former: ChangelogTask) -> None:
    other = replace(former.order, name="task-1")
    first = restored(setup_of(former), former.order, seconds=0.0)
    assert first.restored > 0
    while (more := restored(setup_of(former), former.order, seconds=0.0)).left:
        assert more.restored > 0
    ((_, both),) = restore_standby_lane(setup_of(former), 60.0, 0, [packed_tasks([former.order, other])])
    assert both == RestoreProgress(restored=5)  # of the task that has no store yet


def test_what_a_run_left_whose_state_was_given_up_is_not_restored(former: ChangelogTask) -> None:
    assert restored(setup_of(former, begin=3), former.order) == RestoreProgress(restored=2)


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    "former", [pytest.param(StoreKind.LMDB, marks=pytest.mark.nightly), StoreKind.ROCKSDB], indirect=True
)
def test_a_store_that_another_process_has_is_left_alone(former: ChangelogTask) -> None:
    shared = replace(setup_of(former).setup, state=str(former.folder))
    assert restored(StandbySetup(None, shared, {}), former.order) == RestoreProgress()
    former.settle()
    assert former.content() == {"ann": "2", "cid": "1"}


def test_streams_that_are_away_leave_it_to_the_lane(former: ChangelogTask) -> None:
    specs = {"users": StoreSpec("users", former.kind, "schema", "another.changelog")}
    setup = replace(setup_of(former).setup, store_specs=specs)
    assert restored(StandbySetup(None, setup, {}), former.order) == RestoreProgress()

import pytest

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouper import BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK, Grouper
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed, refused, shown


def test_partitions_of_one_index_share_a_task() -> None:
    assert shown(formed({"clicks": 2, "views": 3}, stateful=False)) == {
        "Partition 0": "clicks#0 views#0",
        "Partition 1": "clicks#1 views#1",
        "Partition 2": "views#2",
    }


def test_by_stream_partition_each_partition_has_a_task_named_after_it() -> None:
    assert shown(formed({"kafka.views": 2, "views": 1}, grouper=BY_STREAM_PARTITION)) == {
        "SystemStreamPartition [kafka, views, 0]": "kafka.views#0",
        "SystemStreamPartition [kafka, views, 1]": "kafka.views#1",
        "SystemStreamPartition [views, 0]": "views#0",
    }


def test_a_single_task_reads_everything() -> None:
    assert shown(formed({"clicks": 1, "views": 2}, grouper=SINGLE_TASK)) == {
        "Task-0": "clicks#0 views#0 views#1"
    }


def test_with_processors_named_each_has_a_task_that_reads_everything() -> None:
    found = formed({"views": 2}, grouper=SINGLE_TASK, processors=("7", "8"), stateful=False)
    assert shown(found) == {"Task-7": "views#0 views#1", "Task-8": "views#0 views#1"}


def test_state_of_a_task_for_each_processor_is_not_left_behind_by_one_task() -> None:
    before = formed({"views": 2}, grouper=SINGLE_TASK, processors=("7", "8"))
    refusal = refused({"views": 2}, before, grouper=SINGLE_TASK)
    assert (refusal.reason, refusal.path) == (Reason.GROUPER_CHANGED, "spec.grouper")
    assert "2 tasks that each read everything" in refusal.message


def test_a_task_for_each_of_no_processors_is_refused() -> None:
    assert refused({"views": 2}, grouper=SINGLE_TASK, processors=()).reason is Reason.NO_PROCESSORS


@pytest.mark.parametrize("grouper", [BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK])
@pytest.mark.parametrize("stateful", [True, False])
def test_without_input_there_are_no_tasks(grouper: Grouper, stateful: bool) -> None:
    assert formed({}, grouper=grouper, stateful=stateful).tasks == {}


@pytest.mark.parametrize("stateful", [True, False])
def test_a_broadcast_stream_is_read_by_every_task_and_makes_none(stateful: bool) -> None:
    found = formed({"rates": 3, "views": 2}, broadcast=["rates"], stateful=stateful)
    assert shown(found) == {
        "Partition 0": "rates#0 rates#1 rates#2 views#0",
        "Partition 1": "rates#0 rates#1 rates#2 views#1",
    }


@pytest.mark.parametrize("grouper", [BY_PARTITION, BY_STREAM_PARTITION, SINGLE_TASK])
@pytest.mark.parametrize(
    "broadcast", [["rates", "views"], ["rates", *(Partition("views", index) for index in range(2))]]
)
def test_inputs_that_all_go_to_every_task_are_refused(
    grouper: Grouper, broadcast: list[str | Partition]
) -> None:
    refusal = refused({"rates": 3, "views": 2}, grouper=grouper, broadcast=broadcast)
    assert refusal.reason is Reason.NO_TASKS
    assert refusal.path == "spec.broadcastInputs"
    assert "rates, views" in refusal.message


@pytest.mark.parametrize("stateful", [True, False])
def test_single_partitions_can_be_broadcast(stateful: bool) -> None:
    broadcast = [Partition("a", 0), Partition("b", 1)]
    found = formed({"a": [0], "b": [1, 2]}, broadcast=broadcast, stateful=stateful)
    assert shown(found) == {"Partition 2": "a#0 b#1 b#2"}


def test_an_app_without_state_is_grouped_anew_whenever_a_stream_changes() -> None:
    first = formed({"views": 4}, stateful=False)
    grown = formed({"views": 6}, first, stateful=False)
    shrunk = formed({"views": 3}, grown, stateful=False)
    assert list(grown.tasks) == [f"Partition {index}" for index in range(6)]
    assert list(shrunk.tasks) == [f"Partition {index}" for index in range(3)]
    assert grown.grown == ()


def test_an_app_without_state_may_change_its_grouper() -> None:
    first = formed({"views": 2}, stateful=False)
    assert list(formed({"views": 2}, first, stateful=False, grouper=SINGLE_TASK).tasks) == ["Task-0"]


def test_an_app_with_state_may_not_change_its_grouper() -> None:
    refusal = refused({"views": 2}, formed({"views": 2}), grouper=SINGLE_TASK)
    assert refusal.reason is Reason.GROUPER_CHANGED
    assert "partition" in refusal.message
    assert "single" in refusal.message

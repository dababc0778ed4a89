from streamapp.tasks.groupers.grouper import BY_PARTITION, SINGLE_TASK
from streamapp.tasks.partition import Partition
from tests.harness.core.adopted_layout import adopted_layout
from tests.harness.core.task_forming import formed, refused, shown


def of(*texts: str) -> list[Partition]:
    return [Partition.parse(text) for text in texts]


def test_names_are_kept_whatever_they_look_like() -> None:
    layout = adopted_layout({"north": of("views#1"), "task:☂/2": of("views#0")}, BY_PARTITION)
    assert shown(formed({"views": 4}, layout=layout)) == {
        "task:☂/2": "views#0 views#2",
        "north": "views#1 views#3",
    }


def test_a_stream_that_had_grown_already_is_seen_to_have() -> None:
    tasks = {"a": of("views#0", "views#2"), "b": of("views#1", "views#3")}
    layout = adopted_layout(tasks, BY_PARTITION)
    assert (layout.streams["views"].initial, layout.streams["views"].last) == (2, 4)
    assert shown(formed({"views": 6}, layout=layout))["b"] == "views#1 views#3 views#5"


def test_tasks_of_several_partitions_not_in_turns_are_taken_as_they_are() -> None:
    tasks = {"first": of("views#0"), "rest": of("views#1", "views#2")}
    layout = adopted_layout(tasks, BY_PARTITION)
    assert shown(formed({"views": 6}, layout=layout))["first"] == "views#0 views#3"
    refused({"views": 4}, layout=layout)


def test_broadcast_partitions_are_nobodys() -> None:
    tasks = {"a": of("rates#0", "views#0"), "b": of("rates#0", "views#1")}
    layout = adopted_layout(tasks, BY_PARTITION, broadcast=["rates"])
    found = formed({"rates": 3, "views": 2}, layout=layout, broadcast=["rates"])
    assert shown(found)["a"] == "rates#0 rates#1 rates#2 views#0"


def test_the_names_of_tasks_that_read_everything_are_kept_too() -> None:
    layout = adopted_layout({"all": of("views#0", "views#1")}, SINGLE_TASK, changelog={"all": 4})
    found = formed({"views": 3}, layout=layout, grouper=SINGLE_TASK)
    assert shown(found) == {"all": "views#0 views#1 views#2"}
    assert found.changelog == {"all": 4}

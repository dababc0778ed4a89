from streamapp.tasks.expansion.start_origin import StartOrigin, start_origin
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed


def test_a_partition_that_came_with_a_growth_is_read_from_its_oldest_record() -> None:
    for stateful in (True, False):
        grown = formed({"views": 4}, formed({"views": 2}, stateful=stateful), stateful=stateful)
        assert [start_origin(Partition("views", index), grown.layout) for index in range(4)] == [
            StartOrigin.AS_SET,
            StartOrigin.AS_SET,
            StartOrigin.OLDEST,
            StartOrigin.OLDEST,
        ]


def test_all_of_a_new_stream_starts_as_set_even_if_it_is_folded() -> None:
    grown = formed({"views": 4}, formed({"views": 2}))
    joined = formed({"clicks": 4, "views": 4}, grown, copartition_groups=[["clicks", "views"]])
    assert {start_origin(Partition("clicks", index), joined.layout) for index in range(4)} == {
        StartOrigin.AS_SET
    }

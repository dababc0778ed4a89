from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.groupers.changelog_partitions import changelog_numbers, changelog_partition_count
from tests.harness.core.task_forming import formed

NAMES = st.lists(st.sampled_from([f"Partition {index}" for index in range(12)]), unique=True)


def test_known_numbers_stay_though_out_of_order_and_new_tasks_get_the_next_ones_by_name() -> None:
    known = {"Partition 0": 1, "Partition 1": 0}
    assert changelog_numbers(known, ["Partition 3", "Partition 0", "Partition 2"]) == {
        **known,
        "Partition 2": 2,
        "Partition 3": 3,
    }


def test_a_gap_is_not_filled_for_it_may_hold_what_was_written_once() -> None:
    assert changelog_numbers({"a": 5}, ["a", "b"]) == {"a": 5, "b": 6}
    assert changelog_partition_count({"a": 5, "b": 6}) == 7
    assert changelog_partition_count({}) == 0


@given(st.lists(NAMES, max_size=6))
def test_no_number_ever_moves_or_is_given_twice(models: list[list[str]]) -> None:
    numbers: dict[str, int] = {}
    for tasks in models:
        after = changelog_numbers(numbers, tasks)
        assert numbers.items() <= after.items()
        assert after.keys() == numbers.keys() | set(tasks)
        assert sorted(after.values()) == list(range(len(after)))
        numbers = after


def test_a_task_that_was_dropped_and_returns_has_its_number_again() -> None:
    first = formed({"clicks": 2, "views": 1})
    assert first.changelog == {"Partition 0": 0, "Partition 1": 1}
    without = formed({"rates": 3, "views": 1}, formed({"views": 1}, first))
    assert without.changelog == {"Partition 0": 0, "Partition 1": 1, "Partition 2": 2}
    assert formed({"views": 1}, without).changelog == {"Partition 0": 0}

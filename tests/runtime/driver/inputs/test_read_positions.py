"""Where reading goes on, after tasks have read at their own pace."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.read_positions import ReadPositions

VIEWS, RATES = Partition("views", 0), Partition("rates", 0)
TASKS = {"a": (VIEWS, RATES), "b": (RATES,)}


def test_a_partition_goes_on_where_whichever_task_read_it_last_stopped() -> None:
    positions = ReadPositions({"b": {VIEWS: 7}, "a": {VIEWS: 3}})
    assert positions.next_of(TASKS) == {("a", VIEWS): 7}


def test_tasks_that_are_formed_anew_read_on_by_partition() -> None:
    clicks = Partition("clicks", 0)
    positions = ReadPositions({"former": {VIEWS: 3}, "another": {clicks: 9}})
    assert positions.next_of({"new": (VIEWS, clicks)}) == {("new", VIEWS): 3, ("new", clicks): 9}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 9)), max_size=30))
def test_however_a_partition_moves_nothing_is_read_twice_or_left_out(moves: list[tuple[str, int]]) -> None:
    """Each move gives the partition to a task, which reads some records and writes its checkpoint."""
    of_tasks: dict[str, dict[Partition, int]] = {}
    read: list[int] = []
    for task, amount in moves:
        position = ReadPositions(of_tasks).next_of({task: (VIEWS,)}).get((task, VIEWS), 0)
        read += range(position, position + amount)
        of_tasks.setdefault(task, {})[VIEWS] = position + amount
    assert read == list(range(len(read)))


def test_what_all_read_begins_at_its_start_in_a_task_that_has_read_none_of_it() -> None:
    positions = ReadPositions({"a": {RATES: 12}}, frozenset({RATES}))
    assert positions.next_of(TASKS) == {("a", RATES): 12}


def test_each_task_goes_on_where_it_stopped_itself_in_what_all_read() -> None:
    positions = ReadPositions({"a": {RATES: 5}, "b": {RATES: 2}}, frozenset({RATES}))
    assert positions.next_of(TASKS) == {("a", RATES): 5, ("b", RATES): 2}


def test_what_all_read_is_done_with_only_below_the_slowest() -> None:
    shared = frozenset({RATES})
    assert ReadPositions({"a": {RATES: 5, VIEWS: 9}, "b": {RATES: 2}}, shared).done_with(TASKS) == {
        VIEWS: 9,
        RATES: 2,
    }
    assert ReadPositions({"a": {RATES: 5}}, shared).done_with(TASKS) == {RATES: 0}


def test_a_partition_of_which_nothing_was_read_begins_at_its_start_if_it_has_one() -> None:
    assert ReadPositions({}, frozenset(), {VIEWS: 4}).next_of(TASKS) == {("a", VIEWS): 4}
    assert ReadPositions({"a": {VIEWS: 6}}, frozenset(), {VIEWS: 4}).next_of(TASKS) == {("a", VIEWS): 6}

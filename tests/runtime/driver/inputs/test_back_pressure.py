"""What is not read while a lane that takes long has more before it than it can take."""

from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, ReadOrder, within_back_pressure

DEEP, MIDDLE, INPUT, SIDE = "deep", "middle", "views", "users"
ORDER = ReadOrder((DEEP, MIDDLE), side=frozenset({SIDE}))
MOST = 100


def one(stream: str, lag: int = 10, task: str = "idle") -> PendingRange:
    return PendingRange(task, Partition(stream, 0), 0, lag)


EVERY = [one(DEEP), one(MIDDLE), one(INPUT), one(SIDE)]


def streams(ranges: list[PendingRange]) -> list[str]:
    return [each.partition.stream for each in ranges]


def test_all_is_read_while_no_busy_task_has_more_before_it_than_a_batch_takes() -> None:
    assert within_back_pressure(EVERY, [one(MIDDLE, MOST, "busy")], MOST, ORDER) == EVERY


def test_what_is_above_a_stream_that_is_full_waits_and_what_is_below_goes_on() -> None:
    full = [one(MIDDLE, MOST + 1, "busy")]
    assert streams(within_back_pressure(EVERY, full, MOST, ORDER)) == [DEEP, MIDDLE, SIDE]


def test_the_deepest_stream_that_is_full_counts() -> None:
    full = [one(MIDDLE, MOST + 1, "busy"), one(DEEP, MOST + 1, "busy")]
    assert streams(within_back_pressure(EVERY, full, MOST, ORDER)) == [DEEP, SIDE]


def test_an_input_that_a_busy_task_has_not_read_stops_nobody() -> None:
    assert within_back_pressure(EVERY, [one(INPUT, 10_000, "busy")], MOST, ORDER) == EVERY


@given(st.lists(st.tuples(st.sampled_from((DEEP, MIDDLE, INPUT, SIDE)), st.integers(1, 300))))
def test_tables_are_filled_whatever_is_full(held_up: list[tuple[str, int]]) -> None:
    busy = [one(stream, lag, "busy") for stream, lag in held_up]
    assert SIDE in streams(within_back_pressure(EVERY, busy, MOST, ORDER))

"""A table that is made anew from a stream that grew ends with the newest value of each key."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from streamapp.side_inputs.growth_order import waits_for_older
from streamapp.tasks.partition import Partition

OLD, NEW = Partition("users>tiers", 0), Partition("users>tiers", 1)


def test_a_partition_that_came_with_a_growth_waits_until_the_older_one_is_at_its_end() -> None:
    assert waits_for_older(NEW, {OLD: 5, NEW: 3}, {OLD: 4, NEW: 0}, initial_count=1)
    assert not waits_for_older(NEW, {OLD: 5, NEW: 3}, {OLD: 5, NEW: 0}, initial_count=1)


def test_partitions_that_were_there_at_first_wait_for_nothing() -> None:
    assert not waits_for_older(NEW, {OLD: 5, NEW: 3}, {OLD: 4, NEW: 0}, initial_count=2)
    assert not waits_for_older(OLD, {OLD: 5, NEW: 3}, {OLD: 0, NEW: 0}, initial_count=1)


def test_other_streams_are_not_waited_for() -> None:
    assert not waits_for_older(
        NEW, {Partition("a>tiers", 0): 9}, {Partition("a>tiers", 0): 0}, initial_count=1
    )


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 99)), max_size=20),
    st.integers(0, 20),
    st.randoms(use_true_random=False),
)
def test_whatever_the_pace_the_newest_value_of_each_key_stays(
    written: list[tuple[str, int]], growth: int, chance: Random
) -> None:
    """Before the growth all records lie in partition 0; then keys from d on lie in partition 1."""
    logs: dict[Partition, list[tuple[str, int]]] = {OLD: [], NEW: []}
    for number, (key, value) in enumerate(written):
        logs[NEW if number >= growth and key >= "d" else OLD].append((key, value))
    ends = {partition: len(records) for partition, records in logs.items()}
    at, table = {OLD: 0, NEW: 0}, dict[str, int]()
    while open_now := [
        p for p in logs if at[p] < ends[p] and not waits_for_older(p, ends, at, initial_count=1)
    ]:
        partition = chance.choice(open_now)
        key, value = logs[partition][at[partition]]
        table[key] = value
        at[partition] += 1
    assert at == ends
    assert table == dict(written)


def test_an_older_partition_that_is_ahead_of_its_version_is_not_waited_for() -> None:
    older, newer = Partition("prices", 0), Partition("prices", 1)
    ends, contained = {older: 9, newer: 9}, {older: 5, newer: 0}
    assert waits_for_older(newer, ends, contained, 1)
    assert not waits_for_older(newer, ends, contained, 1, {str(older)})

"""Filling and joining take turns where rows see what was read with them, and lanes share one store."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.fill_turns import FillTurn, TurnTakingStore, fill_turn
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange

SIDE = "rates>prices"
HERE = TurnTakingStore(frozenset({Partition(SIDE, 0), Partition(SIDE, 1)}), frozenset({"t0", "t1"}))
THERE = TurnTakingStore(HERE.partitions, frozenset({"t2"}))
STORES = {"t0": HERE, "t2": THERE}
FILLS = PendingRange("t0", Partition(SIDE, 0), 0, 5)
FILLS_THERE = PendingRange("t2", Partition(SIDE, 0), 0, 5)
ROWS = PendingRange("t1", Partition("views", 1), 0, 9)
ROWS_THERE = PendingRange("t2", Partition("views", 2), 0, 9)


def turn(*able: PendingRange, last: str = "", waiting: str = "") -> FillTurn:
    return fill_turn(able, STORES, {SIDE}, waiting.split(), last.split())


def test_what_fills_a_table_goes_first_and_rows_that_see_it_wait() -> None:
    assert turn(FILLS, ROWS) == FillTurn((FILLS, ROWS), frozenset({"t0", "t1"}), frozenset({"t0"}))


def test_after_a_batch_that_filled_it_is_the_turn_of_the_rows() -> None:
    assert turn(FILLS, ROWS, last="t0") == FillTurn((ROWS,))


def test_without_rows_a_table_is_filled_in_one_batch_after_the_other() -> None:
    assert turn(FILLS, last="t0").ranges == (FILLS,)


def test_rows_that_wait_anyway_take_no_turn_from_a_table() -> None:
    assert turn(FILLS, ROWS, last="t0", waiting="t1").ranges == (FILLS, ROWS)


def test_each_location_has_turns_of_its_own() -> None:
    found = turn(FILLS, ROWS, FILLS_THERE, ROWS_THERE, last="t2")
    assert found.ranges == (FILLS, ROWS, ROWS_THERE)
    assert found.waiting == {"t0", "t1"}


EVERY = [FILLS, ROWS, FILLS_THERE, ROWS_THERE]


@given(
    st.lists(st.sampled_from(EVERY), unique=True), st.sets(st.sampled_from(["t0", "t1", "t2"])), st.booleans()
)
def test_no_row_is_read_beside_what_fills_its_table_and_neither_waits_for_two_batches(
    able: list[PendingRange], waiting: set[str], began: bool
) -> None:
    """Against the meaning of turns: batch after batch with as much to read as before."""
    last: frozenset[str] = frozenset({"t0"} if began else ())
    read: list[set[PendingRange]] = []
    for _ in range(2):
        found = fill_turn(able, STORES, {SIDE}, waiting, last)
        last = found.filling
        barred = waiting | found.waiting
        read.append({d for d in found.ranges if d.partition.stream == SIDE or d.task not in barred})
        for store in (HERE, THERE):
            fills = {d for d in read[-1] if STORES.get(d.task) is store and d.partition in store.partitions}
            rows = {d for d in read[-1] if d.partition.stream != SIDE and d.task in store.seen_by}
            assert not (fills and rows)
    could = {d for d in able if d.partition.stream == SIDE or d.task not in waiting}
    assert set(chain.from_iterable(read)) == could

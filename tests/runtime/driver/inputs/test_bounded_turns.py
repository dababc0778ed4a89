"""The turns of a batch app: what there is to read in one, and when nothing is left."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.inputs.bounded_turns import (
    BoundedTurn,
    awaiting_histories,
    end_turn,
    last_turn,
    left_to_read,
    partitions_at_end,
    refuse_unreachable_end,
    take_turn,
    within_turn,
)
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

P, Q = Partition("views", 0), Partition("views", 1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def opened(folder: Path) -> tuple[EmbeddedSystem, CheckpointStream]:
    system = EmbeddedSystem(folder)
    ledger = CheckpointStream(system, "app.checkpoint")
    ledger.open("run")
    return system, ledger


def test_a_driver_that_begins_anew_in_a_turn_goes_on_to_the_same_ends(folder: Path) -> None:
    system, ledger = opened(folder)
    assert take_turn(ledger, {P: 5}) == BoundedTurn(1, {P: 5})
    system.close()
    system, ledger = opened(folder)
    assert take_turn(ledger, {P: 9}) == BoundedTurn(1, {P: 5})
    system.close()


def test_a_turn_that_continues_ends_where_its_inputs_do_of_which_records_are_lost(folder: Path) -> None:
    system, ledger = opened(folder)
    turn = take_turn(ledger, {P: 5})
    with pytest.raises(FailedError, match="views#0 ends at 3, and the turn was to read it up to 5"):
        refuse_unreachable_end(turn, {P: OffsetSpan(0, 3)})
    system.close()
    system, ledger = opened(folder)
    assert take_turn(ledger, {P: 3}) == BoundedTurn(1, {P: 3})
    system.close()


def test_a_start_after_a_turn_is_over_begins_the_next_with_the_ends_of_then(folder: Path) -> None:
    system, ledger = opened(folder)
    end_turn(ledger, take_turn(ledger, {P: 5}))
    system.close()
    system, ledger = opened(folder)
    assert last_turn(ledger) == BoundedTurn(1, {P: 5}, over=True)
    assert take_turn(ledger, {P: 9}) == BoundedTurn(2, {P: 9})
    system.close()


demand = st.builds(
    PendingRange, st.sampled_from("ab"), st.sampled_from([P, Q]), st.integers(0, 9), st.just(10)
)


@given(st.lists(demand, unique_by=lambda d: (d.task, d.partition)), st.integers(0, 12))
def test_nothing_past_an_end_is_read_and_what_comes_before_it_all_is(found, end):
    turn = BoundedTurn(1, {P: end})
    cut = {(d.task, d.partition): d for d in within_turn(turn, found)}
    for each in found:
        wanted = min(each.end, end) if each.partition == P else 0  # Q came to the stream later
        kept = cut.get((each.task, each.partition))
        assert (kept.end if kept else each.start) == max(wanted, each.start)
        assert kept is None or kept.start == each.start


def test_without_turns_everything_is_read():
    found = [PendingRange("a", P, 0, 5)]
    assert within_turn(None, found) == found


def test_a_partition_is_at_its_end_when_a_batch_is_given_all_that_is_left_of_it():
    turn = BoundedTurn(1, {P: 5, Q: 5})
    found = [PendingRange("a", P, 0, 5), PendingRange("a", Q, 3, 5)]
    rest = left_to_read(found, [PendingRange("a", P, 0, 5), PendingRange("a", Q, 3, 4)])
    ended = partitions_at_end(turn, {"a": (P, Q), "b": (P,)}, rest, {("a", P): 5, ("a", Q): 4})
    assert ended == {"a": (("views", 0),), "b": (("views", 0),)}


def test_a_partition_that_shows_nothing_to_read_is_not_at_its_end_before_it_was_read_to_there():
    assert partitions_at_end(BoundedTurn(1, {P: 5}), {"a": (P,)}, set(), {("a", P): 4}) == {"a": ()}


def test_a_stream_waits_for_all_of_its_history() -> None:
    table = [Partition("history", index) for index in range(2)]
    turn, histories = BoundedTurn(0, {table[0]: 5, table[1]: 3}), {"views": "history"}
    unread = {("t0", table[0]): 5, ("t1", table[1]): 2, ("t0", P): 0}
    assert awaiting_histories(turn, histories, unread) == {"views"}
    assert awaiting_histories(turn, histories, unread | {("t1", table[1]): 3}) == set()
    assert awaiting_histories(turn, {}, unread) == set()
    assert awaiting_histories(None, histories, unread) == set()

"""Main inputs wait for positions, whatever lies or does not lie before them."""

from streamapp.side_inputs.bootstrap_gate import BootstrapGate, bootstrap_gate
from streamapp.tasks.partition import Partition

A, B = Partition("users>tiers", 0), Partition("users>tiers", 1)


def test_a_gate_opens_when_every_partition_has_reached_its_end() -> None:
    closed = BootstrapGate({A: 5, B: 2})
    assert closed.waits({A: 5, B: 1})
    assert not closed.waits({A: 5, B: 2})
    assert not closed.waits({A: 9, B: 9})


def test_a_store_that_has_not_told_what_it_contains_keeps_even_the_gate_of_an_empty_stream_closed() -> None:
    assert BootstrapGate({A: 0}).waits({})
    assert not BootstrapGate({A: 0}).waits({A: 0})


def test_nothing_waits_where_no_stream_says_bootstrap() -> None:
    assert not BootstrapGate({}).waits({})


def test_a_store_that_is_made_again_is_waited_for_up_to_what_rows_before_have_seen() -> None:
    again = bootstrap_gate({A: 5}, contained={A: 8, B: 9})
    assert again.waits({A: 7})
    assert not again.waits({A: 8})


def test_what_is_left_to_fill_is_counted_in_positions() -> None:
    assert BootstrapGate({A: 5, B: 2}).remaining({A: 3}) == 4
    assert BootstrapGate({A: 5}).remaining({A: 9}) == 0


def test_a_partition_that_is_ahead_of_its_version_is_not_waited_for() -> None:
    one, other = Partition("prices", 0), Partition("prices", 1)
    gate = BootstrapGate({one: 9, other: 4})
    assert gate.waits({one: 5, other: 4})
    assert not gate.waits({one: 5, other: 4}, {str(one)})
    assert gate.remaining({one: 5, other: 3}, {str(one)}) == 1

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.expansion_algorithm import initial_index, initial_indexes
from streamapp.tasks.layouts.split import KeyMovement
from streamapp.tasks.refusal import Refusal
from tests.harness.core.task_forming import formed, owner, refused


def by_halves(index: int, _current: int, initial: int, /) -> int:
    """Growth by appending partitions in reverse: not what a remainder would give."""
    return index if index < initial else initial - 1 - index % initial


def test_a_users_own_algorithm_decides_where_new_partitions_go() -> None:
    grown = formed({"views": 8}, formed({"views": 4}, algorithm=by_halves), algorithm=by_halves)
    assert [owner(grown, "views", index) for index in range(4, 8)] == [
        f"Partition {index}" for index in (3, 2, 1, 0)
    ]
    assert grown.grown[0].parting is KeyMovement.MAPPED


def test_with_an_algorithm_of_its_own_a_count_need_not_be_a_multiple() -> None:
    first = formed({"views": 4}, algorithm=by_halves)
    assert owner(formed({"views": 5}, first, algorithm=by_halves), "views", 4) == "Partition 3"


@pytest.mark.parametrize("answer", [-1, 4, 7, True, 1.0, "1", None])
def test_an_answer_that_is_no_initial_index_is_refused(answer: Any) -> None:
    def bad(index: int, _current: int, initial: int, /) -> Any:
        return index if index < initial else answer

    refusal = refused({"views": 8}, formed({"views": 4}), algorithm=bad)
    assert refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID
    assert refusal.path == "views#4"
    assert repr(answer) in refusal.message


def test_an_algorithm_that_moves_an_initial_index_is_refused_even_before_any_growth() -> None:
    refusal = refused({"views": 4}, algorithm=lambda index, _current, _initial: 3 - index)
    assert refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID
    assert refusal.path == "views#0"


def test_what_an_algorithm_raises_is_a_refusal_that_names_the_partition() -> None:
    refusal = refused(
        {"views": 4}, formed({"views": 2}), algorithm=lambda index, _now, _then: [0, 1, 0][index]
    )
    assert refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID
    assert refusal.path == "views#3"
    assert "IndexError" in refusal.message


def test_an_algorithm_that_ends_an_iteration_is_refused_like_any_other() -> None:
    def ended(index: int, _current: int, initial: int, /) -> int:
        return index if index < initial else next(iter(()))

    refusal = refused({"views": 4}, formed({"views": 2}), algorithm=ended)
    assert refusal.path == "views#2"
    assert "StopIteration" in refusal.message


def test_another_algorithm_may_not_move_partitions_that_have_state() -> None:
    grown = formed({"views": 8}, formed({"views": 4}))
    refusal = refused({"views": 8}, grown, algorithm=by_halves)
    assert refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID
    assert refusal.path == "views#4"
    back = formed({"views": 8}, formed({"views": 4}, algorithm=by_halves), algorithm=by_halves)
    assert refused({"views": 16}, back).reason is Reason.EXPANSION_ALGORITHM_INVALID


def test_an_algorithm_that_changes_its_mind_from_growth_to_growth_is_refused() -> None:
    def fickle(index: int, current: int, initial: int, /) -> int:
        return index if index < initial else (index + current // 8) % initial

    grown = formed({"views": 8}, formed({"views": 4}, algorithm=fickle), algorithm=fickle)
    assert refused({"views": 16}, grown, algorithm=fickle).reason is Reason.EXPANSION_ALGORITHM_INVALID


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_the_default_puts_every_hash_where_it_was_or_refuses(
    initial: int, current: int, data: st.DataObject
) -> None:
    found = initial_indexes("views", current, initial)
    hashed = data.draw(st.integers(0, 10_000))
    if isinstance(found, Refusal):
        assert current < initial or current % initial
    else:
        assert found[hashed % current] == hashed % initial


def test_one_index_can_be_asked_for() -> None:
    assert initial_index(5, 8, 4) == 1
    assert isinstance(initial_index(5, 6, 4), Refusal)


def test_an_algorithm_that_answers_otherwise_the_second_time_is_refused() -> None:
    answers = iter(range(100))
    refusal = initial_indexes(
        "views", 4, 2, lambda index, _now, _initial: index if index < 2 else next(answers) % 2
    )
    assert isinstance(refusal, Refusal)
    assert refusal.reason is Reason.EXPANSION_ALGORITHM_INVALID
    assert refusal.path == "views#2"
    assert "another answer when it was called again" in refusal.message

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.placement.solver.load_shares import LoadShares, share_out_tasks
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from tests.harness.oracles.locality_oracle import dealt

NUMBERS = st.dictionaries(st.sampled_from([f"p{n}" for n in range(6)]), st.integers(0, 9))


def loads(tasks: int, capacity: dict[str, int], limit: dict[str, int] | None = None) -> dict[str, int]:
    found = share_out_tasks(tasks, sorted(capacity), capacity, limit)
    assert isinstance(found, LoadShares)
    assert not found.extras
    return dict(found.base)


@given(st.integers(0, 200), NUMBERS, NUMBERS)
def test_shares_are_those_of_dealing_tasks_one_by_one(
    tasks: int, capacity: dict[str, int], limit: dict[str, int]
) -> None:
    names = [f"p{n}" for n in range(6)]
    weight = {name: capacity.get(name, 1) for name in names}
    room = sum(limit.get(name, tasks) for name in names if weight[name])
    found = share_out_tasks(tasks, names, capacity, limit)
    if room < tasks:
        assert isinstance(found, Refusal)
    elif capacity or limit:
        assert found == LoadShares(*dealt(tasks, weight, limit))


def test_a_processor_of_twice_the_capacity_carries_twice_as_much() -> None:
    assert loads(12, {"p1": 1, "p2": 2}) == {"p1": 4, "p2": 8}


def test_everybody_gets_a_task_while_there_are_enough() -> None:
    assert loads(3, {"p1": 3, "p2": 1, "p3": 1}) == {"p1": 1, "p2": 1, "p3": 1}


def test_capacities_that_add_up_to_the_tasks_are_filled() -> None:
    assert loads(6, {"p1": 1, "p2": 5}) == {"p1": 1, "p2": 5}


def test_no_load_is_above_its_capacity_while_capacities_suffice() -> None:
    assert loads(5, {"p1": 1, "p2": 4, "p3": 1}) == {"p1": 1, "p2": 3, "p3": 1}


def test_a_capacity_of_nothing_gets_nothing() -> None:
    assert loads(4, {"p1": 0, "p2": 2}) == {"p1": 0, "p2": 4}


def test_a_limit_is_never_exceeded_and_others_take_what_it_leaves() -> None:
    assert loads(9, {"p1": 1, "p2": 1}, {"p1": 2}) == {"p1": 2, "p2": 7}


@pytest.mark.parametrize(
    ("capacity", "limit", "missing"), [({}, {"p1": 2, "p2": 3}, 4), ({"p1": 0}, {"p2": 8}, 1)]
)
def test_limits_that_cannot_hold_all_tasks_are_refused_with_what_is_missing(
    capacity: dict[str, int], limit: dict[str, int], missing: int
) -> None:
    found = share_out_tasks(9, ["p1", "p2"], capacity, limit)
    assert isinstance(found, Refusal)
    assert found.reason is Reason.INSUFFICIENT_CAPACITY
    assert "there are 9" in found.message
    assert f"room for {missing} more" in found.hint


def test_without_processors_there_is_no_placement() -> None:
    found = share_out_tasks(5, [])
    assert isinstance(found, Refusal)
    assert found.reason is Reason.NO_PROCESSORS

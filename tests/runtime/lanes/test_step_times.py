from collections.abc import Iterator
from time import perf_counter

import pytest

from streamapp_runtime.lanes.batches.step_times import StepTimes


def _spend(seconds: float) -> None:
    until = perf_counter() + seconds
    while perf_counter() < until:
        pass


def _slow() -> Iterator[int]:
    for number in range(3):
        _spend(0.01)
        yield number


def test_making_items_is_part_of_a_step_and_using_them_is_not() -> None:
    times = StepTimes()
    made = []
    for number in times.making("read", _slow()):
        with times.of("use"):
            _spend(0.05)
        made.append(number)
    assert made == [0, 1, 2]
    seconds = times.by_step()
    assert 0.03 <= seconds["read"] < seconds["use"]
    assert seconds["use"] >= 0.15


def test_a_step_that_fails_is_counted_as_well() -> None:
    times = StepTimes()
    with pytest.raises(ZeroDivisionError), times.of("commit"):
        _spend(0.01)
        raise ZeroDivisionError
    assert times.by_step()["commit"] >= 0.01

"""Slopes of a soak: what grows is seen, and processes that take each other's place are no growth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.soak.slopes import Sample, slope

NUMBERS = st.floats(-1e3, 1e3)


@given(st.lists(NUMBERS, min_size=4, max_size=40))
def test_the_slope_of_one_process_is_that_of_least_squares(values: list[float]) -> None:
    times = np.arange(len(values), dtype=float)
    found = slope([("1", float(time), value) for time, value in enumerate(values)], 1.0)
    (expected, _), covariance = np.polyfit(times, values, 1, cov="unscaled")
    residuals = np.array(values) - np.polyval(np.polyfit(times, values, 1), times)
    error = math.sqrt(covariance[0, 0] * float(residuals @ residuals) / (len(values) - 2))
    assert found.per_hour == pytest.approx(expected * 3_600, abs=1e-6)
    assert found.error == pytest.approx(error * 3_600, abs=1e-6)


@given(st.lists(NUMBERS, min_size=2, max_size=6))
def test_processes_of_different_sizes_that_do_not_grow_have_no_slope(sizes: list[float]) -> None:
    samples: list[Sample] = [
        (str(number), 100.0 * number + second, size)
        for number, size in enumerate(sizes)
        for second in range(10)
    ]
    found = slope(samples, 1.0)
    assert found.per_hour == pytest.approx(0.0, abs=1e-6)
    assert not found.exceeds(0.01)


def test_what_grows_by_more_than_its_bound_exceeds_it_and_what_only_varies_does_not() -> None:
    varying = np.random.default_rng(7).normal(100.0, 5.0, 600)
    samples = [("1", float(second), float(value)) for second, value in enumerate(varying)]
    assert not slope(samples, 30.0).exceeds(25.0)
    growing = [(name, second, value + second * 100 / 3_600) for name, second, value in samples]
    assert slope(growing, 30.0).exceeds(25.0)


def test_samples_that_repeat_each_other_make_no_slope_surer() -> None:
    samples = [("1", 30.0 * block, float(block % 3)) for block in range(12)]
    repeated = [(name, time + second, value) for name, time, value in samples for second in range(0, 30, 3)]
    assert slope(repeated, 30.0).error == pytest.approx(slope(samples, 30.0).error)


def test_too_few_samples_prove_nothing() -> None:
    assert not slope([("1", 0.0, 1.0), ("1", 60.0, 1e9)], 30.0).exceeds(0.0)
    assert slope([], 30.0).error == math.inf

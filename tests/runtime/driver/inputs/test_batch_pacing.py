"""When batches begin: records wait as long as the wanted latency allows, and no longer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.driver.inputs.batch_pacing import LOOK_SECONDS, BatchPacing

SECONDS = st.floats(0.001, 5)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(clock: Clock, *durations: float) -> BatchPacing:
    """After batches that took so long, one after the other."""
    pacing = BatchPacing(clock)
    for seconds in durations:
        run_batch(pacing, clock, seconds)
    return pacing


def run_batch(pacing: BatchPacing, clock: Clock, seconds: float, *, reads_inputs: bool = True) -> None:
    pacing.note_start(clock.now, reads_inputs=reads_inputs)
    clock.now += seconds
    pacing.note_end(clock.now)


def test_the_first_batch_does_not_wait() -> None:
    assert BatchPacing(Clock()).wait_seconds(10, 10) == 0


@given(seconds=SECONDS, latency=SECONDS, passed=SECONDS)
def test_a_record_that_comes_when_a_batch_begins_is_committed_within_the_latency(
    seconds: float, latency: float, passed: float
) -> None:
    clock = Clock()
    begun = clock.now
    pacing = paced(clock, seconds)
    next_begins = clock.now + pacing.wait_seconds(0, latency)
    assert next_begins + seconds - begun == pytest.approx(max(latency, 2 * seconds))
    clock.now += passed
    assert pacing.wait_seconds(0, latency) == pytest.approx(max(next_begins - clock.now, 0), abs=1e-6)


def test_a_batch_that_leaves_input_is_followed_at_once() -> None:
    pacing = paced(Clock(), 0.01)
    pacing.input_left = True
    assert pacing.wait_seconds(0, 1) == 0
    assert pacing.wait_seconds(2, 1) == pytest.approx(1.99)


def test_the_longer_of_interval_and_latency_counts() -> None:
    pacing = paced(Clock(), 0.2)
    assert pacing.wait_seconds(1, 0.5) == pytest.approx(0.8)
    assert pacing.wait_seconds(0.1, 0.5) == pytest.approx(0.1)


def test_one_slow_batch_does_not_make_the_next_ones_early_for_long() -> None:
    pacing = paced(Clock(), *[0.02] * 5, 2.0)
    assert pacing.wait_seconds(0, 0.1) == 0
    clock = Clock()
    pacing = paced(clock, *[0.02] * 5, 0.06, *[0.02] * 5)
    assert 0.05 < pacing.wait_seconds(0, 0.1) + 0.02 < 0.1


def test_an_app_without_records_looks_as_often_as_the_latency_wants() -> None:
    assert BatchPacing(Clock()).look_seconds(0) == LOOK_SECONDS
    assert paced(Clock(), 0.02).look_seconds(0.1) == pytest.approx(0.08)


@given(inputs=SECONDS, behind=SECONDS, latency=SECONDS)
def test_batches_of_the_stages_behind_are_part_of_the_latency(
    inputs: float, behind: float, latency: float
) -> None:
    clock = Clock()
    begun = clock.now
    pacing = paced(clock, inputs)
    run_batch(pacing, clock, behind, reads_inputs=False)
    next_begins = clock.now + pacing.wait_seconds(0, latency)
    assert next_begins + inputs + behind - begun == pytest.approx(max(latency, 2 * (inputs + behind)))


def test_an_own_batch_that_comes_by_itself_puts_inputs_off_no_longer() -> None:
    clock = Clock()
    pacing = paced(clock, 0.02)
    clock.now += 0.05
    wait_seconds = pacing.wait_seconds(0, 0.1)
    pacing.note_start(clock.now, reads_inputs=False)
    assert pacing.wait_seconds(0, 0.1) == wait_seconds
    assert pacing.wait_for_interval(1) == 1
    clock.now += 0.001
    pacing.note_end(clock.now)
    assert pacing.wait_seconds(0, 0.1) < wait_seconds

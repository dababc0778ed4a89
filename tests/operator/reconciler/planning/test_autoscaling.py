"""The number of processors that autoscaling asks for, and when it sets the number."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from streamapp.protocol.driver_report import Progress, next_power_of_two
from streamapp.spec.resource.runtime_policies import Autoscale
from streamapp_operator.reconciler.planning.autoscaling import (
    GROWTH_SECONDS,
    AutoscaleDecision,
    AutoscaleState,
    autoscale,
)

NOW = 1_000_000.0
COOLDOWN = 300.0


def policy(**fields: object) -> Autoscale:
    return Autoscale.model_validate({"max": 10, "targetLag": 1_000, **fields})


def look(
    current: int, lag: int = 0, busy: int | None = 50, tasks: int | None = 64, **fields: object
) -> AutoscaleDecision:
    """One look at an app whose number has not changed for long."""
    state = AutoscaleState(current, changed_at=NOW - 10_000)
    return autoscale(policy(**fields), state, Progress(lag, 0, busy), tasks, NOW)


@pytest.mark.parametrize(
    ("current", "lag", "processors"),
    [(2, 2_048, 3), (2, 4_096, 4), (4, 8_192, 8), (8, 1 << 20, 10)],
    ids=["by-lag", "no-more-than-double", "double", "max"],
)
def test_lag_asks_for_more_at_once(current: int, lag: int, processors: int) -> None:
    assert look(current, lag).processors == processors


def test_there_are_never_more_processors_than_tasks() -> None:
    decision = look(3, 1 << 20, tasks=4)
    assert decision.processors == 4
    assert decision.state.message.endswith("bounded by tasks 4")
    assert decision.state.as_status()["boundedBy"] == "tasks"
    assert "boundedBy" not in look(3, tasks=4).state.as_status()
    assert look(4, 1 << 20, tasks=4).processors is None


@pytest.mark.parametrize(
    ("busy", "processors"), [(90, 6), (60, None), (65, None), (55, None), (100, 7)], ids=str
)
def test_utilization_asks_for_more_beyond_its_tolerance(busy: int, processors: int | None) -> None:
    assert look(4, 0, busy, targetLag=None, targetUtilization=60).processors == processors


def test_of_two_targets_the_one_that_asks_for_more_counts() -> None:
    assert look(4, 6_000, 60, targetUtilization=60).processors == 6
    assert look(4, 0, 90, targetUtilization=60).processors == 6


def test_after_a_change_more_are_set_once_it_could_take_effect() -> None:
    state = AutoscaleState(2, changed_at=NOW - 20)
    decision = autoscale(policy(), state, Progress(4_096, 0, 90), 64, NOW)
    assert (decision.processors, decision.look_after) == (None, GROWTH_SECONDS - 20)
    assert autoscale(policy(cooldown="10s"), state, Progress(4_096, 0, 90), 64, NOW).processors == 4


def test_fewer_are_set_after_the_cooldown_and_then_the_most_that_were_asked_for() -> None:
    first = look(8, 0, 10)
    assert (first.processors, first.state.low_since, first.look_after) == (None, NOW, COOLDOWN)
    second = autoscale(policy(), first.state, Progress(5_500, 0, 10), 64, NOW + 100)
    assert (second.processors, second.state.low_since, second.state.low_most) == (None, NOW, 6)
    third = autoscale(policy(), second.state, Progress(0, 0, 10), 64, NOW + COOLDOWN)
    assert third.processors == 6


def test_a_moment_of_load_begins_the_cooldown_again() -> None:
    state = replace(look(8, 0, 10).state, low_since=NOW - COOLDOWN + 1)
    loaded = autoscale(policy(), state, Progress(8_000, 0, 80), 64, NOW)
    assert (loaded.processors, loaded.state.low_since, loaded.state.low_most) == (None, None, None)


@pytest.mark.parametrize(("busy", "wanted"), [(None, 8), (80, 8), (60, 6), (10, 4)], ids=str)
def test_without_lag_as_many_stay_as_the_work_takes(busy: int | None, wanted: int) -> None:
    assert look(8, 0, busy).state.wanted == wanted


def test_while_the_app_is_changed_or_restored_nothing_is_set_and_nothing_counts_as_calm() -> None:
    state = AutoscaleState(8, NOW - 10_000, low_since=NOW - 200, low_most=4)
    decision = autoscale(policy(), state, None, 64, NOW)
    assert (decision.processors, decision.state.low_since, decision.look_after) == (None, None, None)


@pytest.mark.parametrize(("current", "processors"), [(1, 2), (20, 10)])
def test_a_number_outside_of_the_bounds_is_set_to_the_next_bound(current: int, processors: int) -> None:
    state = AutoscaleState(current, changed_at=NOW)
    assert autoscale(policy(min=2), state, None, 64, NOW).processors == processors


def test_a_number_that_somebody_else_has_set_counts_as_a_change() -> None:
    remembered = AutoscaleState(4, NOW - 10_000, wanted=2, low_since=NOW - 400, low_most=2).as_status()
    assert AutoscaleState.of_status(remembered, 6, NOW) == AutoscaleState(6, changed_at=NOW)
    assert AutoscaleState.of_status({}, 6, NOW) == AutoscaleState(6)
    assert AutoscaleState.of_status(remembered, 4, NOW).low_since == NOW - 400


@given(
    current=some.integers(1, 40),
    lag=some.integers(0, 1 << 40),
    busy=some.none() | some.integers(0, 100),
    tasks=some.none() | some.integers(1, 40),
    least=some.integers(1, 20),
    room=some.integers(0, 20),
    changed=some.none() | some.floats(-1e6, 1e6),
    low=some.none() | some.floats(-1e6, 1e6),
)
def test_whatever_is_reported_the_number_stays_within_its_bounds(
    current: int,
    lag: int,
    busy: int | None,
    tasks: int | None,
    least: int,
    room: int,
    changed: float | None,
    low: float | None,
) -> None:
    bounds = policy(min=least, max=least + room, targetUtilization=70)
    state = AutoscaleState(
        current, None if changed is None else NOW + changed, None, None if low is None else NOW + low, 1
    )
    decision = autoscale(bounds, state, Progress(lag, 0, busy), tasks, NOW)
    assert decision.processors != current
    if decision.processors is not None:
        assert least <= decision.processors <= least + room
        if tasks is not None and decision.processors > current:
            assert decision.processors <= max(tasks, least)
    assert decision.look_after is None or 0 < decision.look_after <= COOLDOWN


class SimulatedApp:
    """An app whose processors each take 1,000 rows a second, seen every ten seconds as its report says it."""

    def __init__(self, scaling: Autoscale, processors: int) -> None:
        self.scaling = scaling
        self.state = AutoscaleState(processors)
        self.processors, self.backlog, self.now = processors, 0.0, NOW
        self.busy: list[float] = []
        self.numbers = [processors]
        self.most_lag = 0.0

    def run(self, seconds: int, rate: Callable[[int], float]) -> None:
        for second in range(0, seconds, 10):
            capacity = 10_000.0 * self.processors
            given_rows = 10 * rate(second)
            done = min(self.backlog + given_rows, capacity)
            self.backlog += given_rows - done
            self.most_lag = max(self.most_lag, self.backlog)
            self.busy = [*self.busy[-5:], done / capacity]
            busy = round(100 * sum(self.busy) / len(self.busy) / 10) * 10
            self.now += 10
            self.state = AutoscaleState.of_status(self.state.as_status(), self.processors, self.now)
            progress = Progress(next_power_of_two(int(self.backlog)), 0, busy)
            decision = autoscale(self.scaling, self.state, progress, 16, self.now)
            self.state = decision.state
            if decision.processors is not None:
                self.processors = decision.processors
                self.numbers.append(self.processors)


@pytest.mark.parametrize(
    "targets",
    [{"targetLag": 20_000}, {"targetLag": None, "targetUtilization": 70}, {"targetUtilization": 70}],
    ids=["lag", "utilization", "both"],
)
def test_a_load_that_rises_tenfold_and_falls_is_followed_without_going_back_and_forth(
    targets: dict[str, int | None],
) -> None:
    app = SimulatedApp(policy(max=16, **targets), 1)
    app.run(1_800, lambda _: 600)
    assert app.processors == 1
    app.run(3_600, lambda _: 6_000)
    assert 6 <= app.processors <= 16
    assert app.backlog < 20_000 * app.processors
    rising = list(app.numbers)
    app.run(7_200, lambda _: 600)
    falling = app.numbers[len(rising) :]
    assert app.processors == 1
    assert falling == sorted(falling, reverse=True), "it falls and does not rise again"
    assert len(app.numbers) <= 16


@pytest.mark.parametrize("targets", [{"targetLag": 20_000}, {"targetUtilization": 70}], ids=["lag", "both"])
def test_a_load_that_comes_and_goes_every_minute_keeps_its_processors(targets: dict[str, int]) -> None:
    app = SimulatedApp(policy(max=16, **targets), 4)
    app.run(1_800, lambda second: 6_000 if second % 120 < 60 else 1_000)
    numbers = len(app.numbers)
    app.run(7_200, lambda second: 6_000 if second % 120 < 60 else 1_000)
    assert len(app.numbers) - numbers <= 4

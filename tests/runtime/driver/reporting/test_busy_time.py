"""How busy a run is, as its reports say."""

from streamapp_runtime.driver.reporting.busy_time import BUSY_SECONDS, BusyTime


def batches(busy: BusyTime, begin: float, seconds: float, every: float, took: float) -> float:
    """Batches at even distances; when the last one ended."""
    for number in range(1, round(seconds / every) + 1):
        busy.note(begin + number * every, took)
    return begin + seconds


def test_nothing_is_said_before_a_minute_has_passed() -> None:
    busy = BusyTime()
    assert busy.percent(0.0) is None
    now = batches(busy, 0.0, BUSY_SECONDS - 2, 1.0, 0.5)
    assert busy.percent(now) is None


def test_it_is_the_share_of_the_last_minute_in_steps_of_ten() -> None:
    busy = BusyTime()
    now = batches(busy, 0.0, 120.0, 1.0, 0.32)
    assert busy.percent(now) == 30
    now = batches(busy, now, 60.0, 1.0, 0.92)
    assert busy.percent(now) == 90


def test_a_batch_that_began_earlier_counts_from_then_on() -> None:
    busy = BusyTime()
    busy.note(1.0, 1.0)
    busy.note(200.0, 199.0)
    assert busy.percent(200.0) == 100
    assert busy.percent(200.0 + BUSY_SECONDS / 2) == 50


def test_a_run_that_rests_is_said_to_rest_without_another_batch() -> None:
    busy = BusyTime()
    now = batches(busy, 0.0, 120.0, 1.0, 1.0)
    assert busy.percent(now) == 100
    assert busy.percent(now + BUSY_SECONDS) == 0


def test_a_share_between_two_steps_does_not_go_back_and_forth() -> None:
    busy = BusyTime()
    now = batches(busy, 0.0, 120.0, 1.0, 0.46)
    assert busy.percent(now) == 50
    for took in (0.43, 0.47, 0.44):
        now = batches(busy, now, 60.0, 1.0, took)
        assert busy.percent(now) == 50
    assert busy.percent(batches(busy, now, 60.0, 1.0, 0.4)) == 40

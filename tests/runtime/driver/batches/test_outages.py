"""A system that is away is waited for by the clock, not by the number of batches that failed."""

import pytest

from streamapp_runtime.driver.batches.retries import MOST_OUTAGE_SECONDS, Outage, Retries, is_outage
from streamapp_runtime.driver.failures import MOST_FAILURES, FailedError
from streamapp_runtime.systems.stream_system import DeniedError, FencedError, FullError, UnavailableError


def test_an_outage_is_endured_for_so_long_and_no_longer() -> None:
    times = iter([100.0, 100.0 + MOST_OUTAGE_SECONDS, 101.0 + MOST_OUTAGE_SECONDS])
    outage = Outage(lambda: next(times))
    assert [outage.endured("away") for _ in range(3)] == [True, True, False]


def test_an_outage_that_is_over_leaves_all_the_time_to_the_next() -> None:
    times = iter([0.0, MOST_OUTAGE_SECONDS + 1])
    outage = Outage(lambda: next(times))
    outage.endured("away")
    outage.over()
    assert outage.endured("away")


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (UnavailableError("x"), True),
        (FullError("x"), False),
        (DeniedError("x"), False),
        (FencedError("x"), False),
    ],
)
def test_only_a_system_that_does_not_answer_is_away(error: Exception, away: bool) -> None:
    assert is_outage(error) is away


def test_an_outage_that_is_seen_only_with_rows_is_not_over_where_there_are_none() -> None:
    times = iter([0.0, 1.0, MOST_OUTAGE_SECONDS + 1])
    outage = Outage(lambda: next(times))
    outage.endured("away", rows=True)
    outage.over(rows=False)
    outage.endured("away")
    outage.over(rows=False)
    assert not outage.endured("away", rows=True)
    outage.over(rows=True)
    assert outage.since is None


def test_an_outage_that_is_seen_without_rows_is_over_without_them() -> None:
    outage = Outage(lambda: 0.0)
    outage.endured("away")
    outage.over(rows=False)
    assert outage.since is None


def test_failures_of_one_lane_count_until_that_lane_succeeds_whatever_others_do() -> None:
    retries = Retries(lambda: 0.0)
    retries.note_failure("away", {"a"}, outage=False, rows=True)
    assert not retries.note_success({"b"}, {"a", "b"}, rows=True, proven=True)
    assert retries.failures == 1
    assert retries.note_success({"a"}, {"a", "b"}, rows=True, proven=True)
    assert retries.failures == 0


def test_an_outage_for_the_rows_of_one_lane_is_not_over_by_those_of_another() -> None:
    times = iter([0.0, MOST_OUTAGE_SECONDS + 1])
    retries = Retries(lambda: next(times))
    retries.note_failure("away", {"a"}, outage=True, rows=True)
    retries.note_success({"a"}, {"a", "b"}, rows=False, proven=True)
    retries.note_success({"b"}, {"a", "b"}, rows=True, proven=True)
    with pytest.raises(FailedError, match="out of reach for too long"):
        retries.note_failure("away", {"a"}, outage=True, rows=True)


def test_lanes_that_run_a_batch_together_succeed_together() -> None:
    retries = Retries(lambda: 0.0)
    for _ in range(2 * MOST_FAILURES):
        retries.note_failure("once", {"a", "b"}, outage=False, rows=True)
        assert retries.note_success({"a", "b"}, {"a", "b"}, rows=False, proven=True)


def test_a_lane_that_is_gone_keeps_no_failure_alive() -> None:
    retries = Retries(lambda: 0.0)
    retries.note_failure("lost", {"a"}, outage=False, rows=True)
    assert retries.note_success({"b"}, {"b"}, rows=True, proven=True)

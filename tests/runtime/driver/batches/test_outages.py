"""A system that is away is waited for by the clock, not by the number of batches that failed."""

import pytest

from streamapp_runtime.driver.batches.retries import (
    MOST_OUTAGE_SECONDS,
    Outage,
    OutageNotes,
    OutageNotice,
    OutagePhase,
    Retries,
)
from streamapp_runtime.driver.failures import MOST_FAILURES, FailedError
from streamapp_runtime.systems.stream_system import (
    DeniedError,
    FencedError,
    FullError,
    SystemTrouble,
    UnavailableError,
    is_outage,
)


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


LANES = ("processor-0", "processor-1")


def noted(times: list[float]) -> tuple[OutageNotes, list[OutageNotice]]:
    """Notes at these times, and what is told of them."""
    notices: list[OutageNotice] = []
    clock = iter(times)
    return OutageNotes(lambda: next(clock), notices.append), notices


def phases(notices: list[OutageNotice]) -> list[OutagePhase]:
    return [notice.phase for notice in notices]


def test_an_outage_of_many_batches_is_told_as_it_begins_and_as_it_ends_with_their_number() -> None:
    notes, notices = noted([10.0, 10.0, 11.0, 12.0, 25.0, 25.0])
    for _ in range(3):
        notes.failed("no broker answers")
    notes.succeeded(LANES, LANES)
    notes.succeeded(LANES, LANES)
    assert phases(notices) == [
        OutagePhase.BEGUN,
        OutagePhase.GOES_ON,
        OutagePhase.GOES_ON,
        OutagePhase.OVER,
    ]
    assert (notices[-1].seconds, notices[-1].failed_batches) == (15.0, 3)
    assert [notice.of_batch for notice in notices] == [True, True, True, False]


def test_what_a_lane_waits_for_and_then_fails_for_is_one_outage() -> None:
    notes, notices = noted([1.0, 1.0, 15.0, 20.0, 20.0])
    notes.lane_waits("processor-0", "processor-0 is in views: a does not answer")
    notes.lane_waits("processor-1", "processor-1 is in views: a does not answer")
    notes.failed("unavailable: a does not answer")
    notes.looked()
    notes.succeeded(LANES, LANES)
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.GOES_ON, OutagePhase.OVER]
    assert notices[0].reason == "processor-0 is in views: a does not answer"


def test_an_outage_of_one_lane_is_not_over_by_the_batches_of_another() -> None:
    notes, notices = noted([1.0, 1.0, 9.0, 9.0])
    notes.lane_waits("processor-0", "processor-0 is in views: a does not answer")
    notes.succeeded(["processor-1"], LANES)
    assert phases(notices) == [OutagePhase.BEGUN]
    notes.succeeded(["processor-0"], LANES)
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.OVER]


def test_a_lane_that_is_no_more_keeps_no_outage_alive() -> None:
    notes, notices = noted([1.0, 1.0, 9.0, 9.0])
    notes.lane_waits("processor-1", "processor-1 is in views: a does not answer")
    notes.succeeded(["processor-0"], ["processor-0"])
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.OVER]


def test_what_the_driver_alone_waited_for_is_over_once_its_calls_go_well() -> None:
    notes, notices = noted([1.0, 1.0, 4.0, 4.0])
    notes.driver_waits(SystemTrouble("a does not answer", 1.0))
    notes.looked()
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.OVER]
    assert notices[0].reason == "the driver: a does not answer"


def test_trouble_from_before_the_end_of_an_outage_begins_no_other() -> None:
    notes, notices = noted([1.0, 1.0, 4.0, 4.0, 7.0, 7.0])
    notes.driver_waits(SystemTrouble("a does not answer", 1.0))
    notes.looked()
    notes.driver_waits(SystemTrouble("a does not answer", 3.5))
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.OVER]
    notes.driver_waits(SystemTrouble("b does not answer", 6.5))
    assert phases(notices) == [OutagePhase.BEGUN, OutagePhase.OVER, OutagePhase.BEGUN]

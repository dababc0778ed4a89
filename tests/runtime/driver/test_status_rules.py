"""What the driver does about each status that a lane reports; the guide has the same table."""

import re
from pathlib import Path

import pytest

from streamapp_runtime.driver.failures import (
    FailedError,
    FinalFailureError,
    UnprovedTrialError,
    failed_report,
    refuse_fatal,
)
from streamapp_runtime.driver.status_rules import STATUS_RULES, Reaction, complete_rules, is_fine
from streamapp_runtime.lanes.batches.lane_errors import LANE_ERRORS, status_of
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.systems.stream_system import UnavailableError

GUIDE = Path(__file__).parents[3] / "docs" / "guide" / "engine.md"
FINAL = {
    TaskStatus.BAD,
    TaskStatus.EXCESS,
    TaskStatus.MISSING,
    TaskStatus.REFUSED,
    TaskStatus.UNREADABLE,
}
BEFALL = {
    TaskStatus.BUSY,
    TaskStatus.DENIED,
    TaskStatus.FENCED,
    TaskStatus.FULL,
    TaskStatus.GONE,
    TaskStatus.MISPLACED,
    TaskStatus.RESTORING,
    TaskStatus.STORE,
}
"""What may happen to a lane whichever records it was given."""


def test_a_status_without_a_rule_is_an_error() -> None:
    rows = {status: rule for status, rule in STATUS_RULES.items() if status is not TaskStatus.BUSY}
    with pytest.raises(TypeError, match="no rule for busy"):
        complete_rules(rows)


def test_the_guide_lists_every_status_with_what_the_driver_does() -> None:
    section = GUIDE.read_text("utf-8").split("### Reports of a lane", 1)[1].split("\n### ", 1)[0]
    rows = re.findall(r"^\| \*\*(\w+)\*\* \| [^|]+ \| ([^|]+) \|$", section, re.MULTILINE)
    assert rows == [(status.value, rule.reaction.value) for status, rule in STATUS_RULES.items()]


@pytest.mark.parametrize("status", TaskStatus)
def test_a_status_travels_as_its_text(status: TaskStatus) -> None:
    report = TaskReport("task-0", status)
    assert report.fields()["status"] == status.value
    assert TaskReport.of_fields(report.fields()).status is status


@pytest.mark.parametrize("kind", LANE_ERRORS)
def test_each_error_has_the_status_of_its_own_class(kind: type[Exception]) -> None:
    assert status_of(kind.__new__(kind)) is LANE_ERRORS[kind]


@pytest.mark.parametrize("status", TaskStatus)
def test_a_run_ends_at_what_trying_again_does_not_mend(status: TaskStatus) -> None:
    reports = [TaskReport("task-0", status, message="why")]
    if status in FINAL:
        with pytest.raises(FinalFailureError, match=re.escape(STATUS_RULES[status].sentence)):
            refuse_fatal(reports)
    elif status is TaskStatus.AWAY:
        with pytest.raises(FailedError, match=r"^why$") as failed:
            refuse_fatal(reports)
        assert not failed.value.final
    else:
        refuse_fatal(reports)


@pytest.mark.parametrize("status", TaskStatus)
def test_in_a_search_a_batch_fails_by_code_and_expressions_alone_and_what_befalls_a_lane_proves_nothing(
    status: TaskStatus,
) -> None:
    reports = [TaskReport("task-0", status, message="why")]
    if status in {TaskStatus.WAITING, TaskStatus.AWAY, TaskStatus.UNAVAILABLE}:
        with pytest.raises(UnavailableError, match="why"):
            failed_report(reports)
    elif status in BEFALL:
        with pytest.raises(UnprovedTrialError, match="why"):
            failed_report(reports)
    else:
        assert failed_report(reports) == (
            reports[0] if status in {TaskStatus.CODE, TaskStatus.EXPRESSION} else None
        )


def test_what_was_committed_counts_and_what_has_to_be_done_again_does_not() -> None:
    fine = {status for status in TaskStatus if is_fine(status)}
    assert fine == {TaskStatus.COMMITTED, TaskStatus.TRIED, TaskStatus.RESTORING}
    again = {status for status, rule in STATUS_RULES.items() if rule.reaction is Reaction.BIND_AGAIN}
    assert again == {TaskStatus.MISPLACED}, "only where no lane writes is nothing fenced"

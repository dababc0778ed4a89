"""What follows a failure, as tables: of what lanes report, and of what an error says."""

import pytest

from streamapp_runtime.driver.batches.recovery import BatchFailure, raised_failure, reported_failure
from streamapp_runtime.driver.failures import BatchTimeoutError
from streamapp_runtime.driver.status_rules import STATUS_RULES, Reaction
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.systems.stream_system import DeniedError, FullError, UnavailableError

LANES = frozenset({"processor-0"})


def reported(*statuses: TaskStatus) -> list[TaskReport]:
    return [TaskReport(f"t{index}", status, message="why") for index, status in enumerate(statuses)]


@pytest.mark.parametrize("status", [TaskStatus.COMMITTED, TaskStatus.RESTORING, TaskStatus.WAITING])
def test_a_task_that_did_what_it_could_has_not_failed(status: TaskStatus) -> None:
    assert reported_failure(reported(status, TaskStatus.COMMITTED)) is None


@pytest.mark.parametrize(
    ("statuses", "failure"),
    [
        ((TaskStatus.CODE,), BatchFailure("code: why")),
        ((TaskStatus.CODE, TaskStatus.COMMITTED), BatchFailure("code: why")),
        ((TaskStatus.CODE, TaskStatus.CODE, TaskStatus.FENCED), BatchFailure("code: why; fenced: why")),
        ((TaskStatus.UNAVAILABLE,), BatchFailure("unavailable: why", is_outage=True)),
        ((TaskStatus.UNAVAILABLE, TaskStatus.COMMITTED), BatchFailure("unavailable: why", is_outage=True)),
        ((TaskStatus.UNAVAILABLE, TaskStatus.CODE), BatchFailure("code: why; unavailable: why")),
        ((TaskStatus.FULL,), BatchFailure("full: why")),
        ((TaskStatus.DENIED,), BatchFailure("denied: why")),
        ((TaskStatus.MISPLACED,), BatchFailure("misplaced: why", fence=False)),
        ((TaskStatus.MISPLACED, TaskStatus.FENCED), BatchFailure("fenced: why; misplaced: why")),
        ((TaskStatus.STORE,), BatchFailure("store: why", of_lanes_alone=True)),
        ((TaskStatus.STORE, TaskStatus.BUSY), BatchFailure("busy: why; store: why", of_lanes_alone=True)),
        ((TaskStatus.STORE, TaskStatus.CODE), BatchFailure("code: why; store: why")),
    ],
)
def test_what_reports_say_of_a_failure(statuses: tuple[TaskStatus, ...], failure: BatchFailure) -> None:
    assert reported_failure(reported(*statuses)) == failure


def test_a_failure_names_its_lanes_and_is_fenced_where_others_are_at_work() -> None:
    failure = reported_failure(reported(TaskStatus.MISPLACED), lanes=LANES, rows=True, others_busy=True)
    assert failure == BatchFailure("misplaced: why", rows=True, lanes=LANES)


def test_every_status_that_tries_again_is_a_failure() -> None:
    retried = {Reaction.BIND_AGAIN, Reaction.RECOVER, Reaction.OUTLAST}
    for status, rule in STATUS_RULES.items():
        if rule.reaction in retried:
            assert reported_failure(reported(status)) is not None, status


@pytest.mark.parametrize(
    ("error", "lost", "out_of_memory", "failure"),
    [
        (OSError("it ended"), (), False, BatchFailure("it ended")),
        (OSError("it ended"), LANES, False, BatchFailure("it ended", lost=LANES)),
        (UnavailableError("away"), (), False, BatchFailure("away", is_outage=True)),
        (DeniedError("no rights"), (), False, BatchFailure("no rights")),
        (FullError("no room"), (), False, BatchFailure("no room")),
        (BatchTimeoutError("too long"), LANES, False, BatchFailure("too long")),
        (
            OSError("ExecutorLostFailure (executor 1)"),
            LANES,
            False,
            BatchFailure("a process was lost (ExecutorLostFailure)", lost=LANES),
        ),
        (
            OSError("ExecutorLostFailure (executor 1)"),
            (),
            True,
            BatchFailure(
                "the kernel killed a Python worker for want of memory; "
                "lower batch.rows, or give the executor more memory"
            ),
        ),
    ],
)
def test_what_an_error_says_of_a_failure(
    error: Exception, lost: frozenset[str], out_of_memory: bool, failure: BatchFailure
) -> None:
    assert raised_failure(error, lost, out_of_memory=out_of_memory) == failure

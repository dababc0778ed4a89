"""Sizes of state as lanes report them: the newest number of each processor counts."""

from streamapp_runtime.driver.reporting.state_sizes import StateSizes
from streamapp_runtime.lanes.protocol.state_levels import (
    STATE_BYTES,
    STATE_ENTRIES,
    VOLUME_BYTES,
    VOLUME_FREE,
)
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

LANES = {"0": ("a", "b"), "1": ("c",)}


def report(task: str, entries: int, size: int, free: int = 50) -> TaskReport:
    counted = (
        (STATE_ENTRIES, "users", entries), (STATE_BYTES, "users", size),
        (VOLUME_FREE, "", free), (VOLUME_BYTES, "", 100), ("nullKeys", "users", 7),
    )  # fmt: skip
    return TaskReport(task, TaskStatus.COMMITTED, counted=counted)


def sizes() -> StateSizes:
    state_sizes = StateSizes()
    state_sizes.run_by(LANES)
    return state_sizes


def test_tables_are_the_sums_of_the_newest_reports_of_all_processors() -> None:
    state_sizes = sizes()
    assert state_sizes.note([report("a", 3, 300), report("c", 4, 400)])
    assert state_sizes.note([report("a", 5, 500, free=20)])
    assert state_sizes.tables() == {"users": (9, 900)}
    assert state_sizes.volumes() == {"0": (20, 100), "1": (50, 100)}


def test_reports_without_a_measurement_change_nothing() -> None:
    state_sizes = sizes()
    state_sizes.note([report("a", 3, 300)])
    assert not state_sizes.note([TaskReport("a", TaskStatus.COMMITTED, counted=(("nullKeys", "users", 1),))])
    assert state_sizes.tables() == {"users": (3, 300)}


def test_a_refused_change_keeps_what_is_known_and_another_assignment_does_not() -> None:
    state_sizes = sizes()
    state_sizes.note([report("a", 3, 300), report("c", 4, 400)])
    state_sizes.run_by(LANES)
    assert state_sizes.tables() == {"users": (7, 700)}
    state_sizes.run_by({"0": ("a", "b", "c")})
    assert state_sizes.tables() == {}
    assert state_sizes.volumes() == {}

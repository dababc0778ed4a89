"""Sizes of state as lanes report them: the newest number of each processor counts."""

from streamapp_runtime.driver.reporting.newest_levels import NewestLevels
from streamapp_runtime.lanes.protocol.lane_levels import (
    MEMORY_BYTES,
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
        (VOLUME_FREE, "", free), (VOLUME_BYTES, "", 100), (MEMORY_BYTES, "", 10 * size),
        ("nullKeys", "users", 7),
    )  # fmt: skip
    return TaskReport(task, TaskStatus.COMMITTED, counted=counted)


def sizes() -> NewestLevels:
    newest_levels = NewestLevels()
    newest_levels.run_by(LANES)
    return newest_levels


def test_tables_are_the_sums_of_the_newest_reports_of_all_processors() -> None:
    newest_levels = sizes()
    assert newest_levels.note([report("a", 3, 300), report("c", 4, 400)])
    assert newest_levels.note([report("a", 5, 500, free=20)])
    assert newest_levels.tables() == {"users": (9, 900)}
    assert newest_levels.volumes() == {"0": (20, 100), "1": (50, 100)}
    assert newest_levels.memory() == {"0": 5_000, "1": 4_000}


def test_reports_without_a_measurement_change_nothing() -> None:
    newest_levels = sizes()
    newest_levels.note([report("a", 3, 300)])
    assert not newest_levels.note(
        [TaskReport("a", TaskStatus.COMMITTED, counted=(("nullKeys", "users", 1),))]
    )
    assert newest_levels.tables() == {"users": (3, 300)}


def test_a_refused_change_keeps_what_is_known_and_another_assignment_does_not() -> None:
    newest_levels = sizes()
    newest_levels.note([report("a", 3, 300), report("c", 4, 400)])
    newest_levels.run_by(LANES)
    assert newest_levels.tables() == {"users": (7, 700)}
    newest_levels.run_by({"0": ("a", "b", "c")})
    assert newest_levels.tables() == {}
    assert newest_levels.volumes() == {}

"""Batch apps: they end by themselves, with all that came of their inputs, however often they are killed."""

from pathlib import Path

import pytest

from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_BOTH, ON_SPARK_OVER_BOTH
from tests.harness.runs.timed_streams import at, counting, events, sent

ROWS = [at(n, f"u{n % 7}", f"/{n % 3}") for n in range(40)]
COUNTED = [counting("again", key="page"), sent("counted")]


def through_two(**more: object) -> list[Row]:
    return [
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3, **more}},
        {"name": "again", "partitionBy": {"from": "by-page", "key": "page", "partitions": 2}},
        *COUNTED,
    ]


BATCH = app(*through_two(), streams=[events(), {"name": "out", "key": "page"}], mode="batch")


def rows(env: AppEnv) -> list[tuple[str, str, int]]:
    return sorted((row["page"], row["window_start"][17:19], row["rows"]) for row in env.rows("out"))


def expected(given: list[Row]) -> list[tuple[str, str, int]]:
    found: dict[tuple[str, str], int] = {}
    for row in given:
        place = (row["page"], f"{row['ts'][17:18]}0")
        found[place] = found.get(place, 0) + 1
    return sorted((page, start, count) for (page, start), count in found.items())


@ON_BOTH
def test_an_end_goes_through_two_repartitions_and_windows_go_out_with_it(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"), partitions=4)
    env.run_to_end(BATCH, rows=9)
    assert rows(env) == expected(ROWS)


@ON_BOTH
def test_an_app_without_any_record_ends(env: AppEnv) -> None:
    env.write("events", [], partitions=2)
    env.run_to_end(BATCH)
    assert env.records("out") == []


def test_what_comes_after_the_start_is_left_to_the_next_turn(env: AppEnv) -> None:
    env.write("events", inputs(ROWS[:25], "user"), partitions=4)
    _, ready = env.launched(BATCH)
    env.write("events", inputs(ROWS[25:], "user"), partitions=4)
    loop = env.loop(CurrentRun.of(ready, batch_rows=1_000))
    loop.start()
    while not loop.planner.ended:
        loop.step()
    loop.release()
    assert rows(env) == expected(ROWS[:25])


@ON_BOTH
def test_a_second_turn_reads_what_has_come_since_and_its_windows_hold_what_they_held(env: AppEnv) -> None:
    for part in (ROWS[:25], ROWS[25:]):
        env.write("events", inputs(part, "user"), partitions=4)
        env.run_to_end(BATCH)
    last = {(row["page"], row["window_start"][17:19]): row["rows"] for row in values(env)}
    assert sorted((*place, count) for place, count in last.items()) == expected(ROWS)


def test_a_second_turn_without_new_records_ends_and_says_nothing_else(env: AppEnv) -> None:
    env.write("events", inputs(ROWS, "user"), partitions=4)
    env.run_to_end(BATCH)
    first = in_order(env.rows("out"))
    env.run_to_end(BATCH)
    assert {str(row) for row in env.rows("out")} == {str(row) for row in first}


def test_a_row_of_the_next_turn_opens_no_window_that_the_watermark_had_closed(env: AppEnv) -> None:
    one = app(counting("events"), sent("counted"), streams=[events(), {"name": "out"}], mode="batch")
    for part in ([at(1), at(25)], [at(2), at(26)]):
        env.write("events", inputs(part, "user"), partitions=1)
        env.run_to_end(one)
    found = [(row["window_start"][17:19], row["rows"]) for row in values(env)]
    assert found == [("00", 1), ("20", 1), ("20", 2)]


@pytest.mark.nightly
@ON_SPARK_OVER_BOTH
def test_killed_before_and_after_every_commit_it_ends_with_each_window_once(
    env: AppEnv, tmp_path: Path
) -> None:
    """Each end of stream that a task writes is in one of these commits, and no two tasks end in the same."""
    env.write("events", inputs(ROWS, "user"), partitions=2)
    _, ready = env.launched(BATCH)
    loop = env.loop(CurrentRun.of(ready, batch_rows=25), pause=lambda _: None)
    loop.start()
    environment = env.session.environment
    environment[VARIABLE] = str(tmp_path)
    before, after = (tmp_path / f"commit.{place}.processor-0" for place in ("before", "after"))
    killed = 0
    try:
        while not loop.planner.ended:
            before.touch()
            after.touch()
            for point in (before, after):
                while point.exists() and not loop.planner.ended:
                    loop.step()
                loop.recovery.retries.failures = (
                    0  # that it is killed again and again is no reason to give up
                )
            killed += 1
    finally:
        del environment[VARIABLE]
    assert killed >= 5
    assert rows(env) == expected(ROWS)


def values(env: AppEnv) -> list[Row]:
    """The rows of the output, those that were written first standing first within a key."""
    assert last_by_key(env.records("out"))
    return [record.value for record in env.records("out")]

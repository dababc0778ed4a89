"""Columns that tell the event time: timestamps and whole numbers, and times that are too far ahead."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from streamapp.spec.resource.app import StreamApp
from tests.harness.runs.app_runs import AppEnv, Row, app
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

OUT = {"name": "out", "key": "user"}
LETTERS = {"name": "letters"}


def windows(env: AppEnv) -> list[tuple[str, str, int]]:
    return [(row["user"], row["window_start"][17:19], row["rows"]) for row in env.rows("out")]


def counted(events: Row) -> StreamApp:
    return app(
        counting("events"),
        sent("counted"),
        streams=[events, OUT, LETTERS],
        config=NOW,
        onBadRecord={"action": "deadLetter", "stream": "letters"},
    )


@ON_BOTH
def test_a_time_of_the_year_2996_is_a_bad_record_and_makes_no_other_row_late(env: AppEnv) -> None:
    far = at(2) | {"ts": "2996-01-01T00:00:00Z"}
    env.write("events", inputs([at(1), far, at(3)]), partitions=1)
    counted_app = counted(events())
    batches = env.run(counted_app)
    env.write("events", inputs([at(4), at(12)]), partitions=1)
    batches += env.run(counted_app)
    assert windows(env) == [("ann", "00", 3)]
    assert sum(batch.late for batch in batches) == 0
    (letter,) = env.records("letters")
    assert (letter.value["stream"], letter.value["partition"], letter.value["offset"]) == ("events", 0, 1)
    assert 'column "ts" says 2996-01-01T00:00:00.000Z' in letter.value["reason"]
    assert "eventTime.maxAhead is 1d" in letter.value["reason"]


def test_an_app_says_itself_how_far_ahead_times_may_be(env: AppEnv) -> None:
    def ahead(hours: int) -> Row:
        return at(0) | {"ts": (datetime.now(tz=UTC) + timedelta(hours=hours)).isoformat()}

    env.write("events", inputs([ahead(2), ahead(50), ahead(90)]), partitions=1)
    env.run(counted(events(maxAhead="3d")))
    assert [record.value["offset"] for record in env.records("letters")] == [2]


@pytest.mark.parametrize(
    ("unit", "written"),
    [("seconds", int), ("milliseconds", lambda time: int(time * 1000) + 7)],
)
def test_numbers_in_json_are_event_times_of_their_unit(
    env: AppEnv, unit: str, written: Callable[[float], int]
) -> None:
    def numbered(seconds: int) -> Row:
        row = at(seconds)
        return row | {"ts": written(datetime.fromisoformat(row["ts"]).timestamp())}

    columns = {"columns": "user STRING, page STRING, n INT, ts BIGINT"}
    env.write("events", inputs([numbered(1), numbered(9), numbered(12)]), partitions=1)
    env.run(counted(events(unit=unit) | columns))
    assert windows(env) == [("ann", "00", 2)]
    assert env.rows("out")[0]["window_start"].startswith("2026-01-01T00:00:00")


def test_milliseconds_that_are_said_to_be_seconds_are_bad_records(env: AppEnv) -> None:
    rows = [at(1) | {"ts": number} for number in (1_767_225_601_000, 2**63 - 1)]
    columns = {"columns": "user STRING, page STRING, n INT, ts BIGINT"}
    env.write("events", inputs(rows), partitions=1)
    env.run(counted(events(unit="seconds") | columns))
    letters = [record.value for record in env.records("letters")]
    assert [letter["offset"] for letter in letters] == [0, 1]
    assert "maxAhead" in json.dumps(letters)

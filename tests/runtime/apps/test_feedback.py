"""Streams that an app writes and reads again: rows go round until an operator drops them."""

import subprocess

from tests.harness.runs.app_runs import House, Row, app, in_order, told
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, sent
from tests.harness.runs.timed_streams import told as timed

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
AGAIN = {"name": "again", "key": "user", "columns": "user STRING, n INT", "feedback": True}
COUNTDOWN = (
    {"name": "all", "merge": {"from": ["events", "again"]}},
    {"name": "more", "filter": {"from": "all", "where": "n > 0"}},
    {"name": "less", "map": {"from": "more", "select": "user, n - 1 AS n"}},
    {"name": "back", "sendTo": {"from": "less", "stream": "again"}},
    {"name": "told", "sendTo": {"from": "all", "stream": "out"}},
)
ROWS: list[Row] = [{"user": "ann", "n": 3}, {"user": "bob", "n": 1}]
BACK = "user, '/back' AS page, 1 AS n, window_end AS ts"
LEFT = {"ann": 3, "bob": 1}


def rounds(*counts: int) -> list[Row]:
    """What comes out of the countdown when it has gone on for so many rounds."""
    return in_order([{"user": user, "n": n - r} for r in counts for user, n in LEFT.items() if n >= r])


@ON_BOTH
def test_rows_go_round_until_an_operator_drops_them(here: House) -> None:
    made = app(*COUNTDOWN, streams=[EVENTS, AGAIN, {"name": "out", "key": "user"}])
    here.write("events", told(ROWS, "user"))
    here.write("again", [])
    here.run(made)
    assert here.rows("out") == rounds(0, 1, 2, 3)


def test_the_command_ends_when_nothing_comes_back_any_more(here: House) -> None:
    made = app(*COUNTDOWN, streams=[EVENTS, AGAIN, {"name": "out", "key": "user"}])
    here.write("events", told(ROWS, "user"))
    here.write("again", [])
    subprocess.run(here.command(made, "--until-end"), check=True, timeout=300)
    assert here.rows("out") == rounds(0, 1, 2, 3)


def test_a_batch_app_reads_in_its_next_turn_what_it_wrote_in_this_one(here: House) -> None:
    made = app(*COUNTDOWN, streams=[EVENTS, AGAIN, {"name": "out", "key": "user"}], mode="batch")
    here.write("events", told(ROWS, "user"))
    here.write("again", [])
    here.run_to_end(made)
    assert here.rows("out") == rounds(0)
    here.run_to_end(made)
    assert here.rows("out") == rounds(0, 1)


def test_feedback_holds_no_window_back_that_it_waits_for(here: House) -> None:
    again = events() | {"name": "again", "eventTime": {"column": "ts"}, "feedback": True}
    made = app(
        {"name": "all", "merge": {"from": ["events", "again"]}},
        counting("all"),
        sent("counted"),
        {"name": "next", "map": {"from": "counted", "select": BACK}},
        {"name": "back", "sendTo": {"from": "next", "stream": "again"}},
        streams=[events(), again, {"name": "out", "key": "user"}],
        config=NOW,
    )
    here.write("events", timed([at(1), at(3), at(12)]), partitions=1)
    here.write("again", [], partitions=1)
    here.run(made)
    assert [(row["window_start"][17:19], row["rows"]) for row in here.rows("out")] == [("00", 2)]
    here.write("events", timed([at(21)]), partitions=1)
    here.run(made)
    assert [(row["window_start"][17:19], row["rows"]) for row in here.rows("out")] == [("00", 2), ("10", 2)]

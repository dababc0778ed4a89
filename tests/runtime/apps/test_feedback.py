"""Streams that an app writes and reads again: rows go round until an operator drops them."""

from tests.harness.runs.app_runs import AppEnv, Row, app, in_order, inputs
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, sent
from tests.harness.runs.timed_streams import inputs as timed

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
def test_rows_go_round_until_an_operator_drops_them(env: AppEnv) -> None:
    made = app(*COUNTDOWN, streams=[EVENTS, AGAIN, {"name": "out", "key": "user"}])
    env.write("events", inputs(ROWS, "user"))
    env.write("again", [])
    env.run(made)
    assert env.rows("out") == rounds(0, 1, 2, 3)


def test_a_batch_app_reads_in_its_next_turn_what_it_wrote_in_this_one(env: AppEnv) -> None:
    made = app(*COUNTDOWN, streams=[EVENTS, AGAIN, {"name": "out", "key": "user"}], mode="batch")
    env.write("events", inputs(ROWS, "user"))
    env.write("again", [])
    env.run_to_end(made)
    assert env.rows("out") == rounds(0)
    env.run_to_end(made)
    assert env.rows("out") == rounds(0, 1)


def test_feedback_holds_no_window_back_that_it_waits_for(env: AppEnv) -> None:
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
    env.write("events", timed([at(1), at(3), at(12)]), partitions=1)
    env.write("again", [], partitions=1)
    env.run(made)
    assert [(row["window_start"][17:19], row["rows"]) for row in env.rows("out")] == [("00", 2)]
    env.write("events", timed([at(21)]), partitions=1)
    env.run(made)
    assert [(row["window_start"][17:19], row["rows"]) for row in env.rows("out")] == [("00", 2), ("10", 2)]

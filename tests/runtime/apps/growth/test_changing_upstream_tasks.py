"""The tasks upstream change while both apps run: their reader neither stalls nor steps back."""

from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.timed_streams import NOW, at, counting, events, sent

USERS = [f"u{number}" for number in range(200)]
"""Enough for every partition to have records of some."""
DELAY = 2
PERIOD = 30
UPSTREAM = {8: 8, 16: 4, 32: 8}
"""How many tasks there are upstream, by the number of partitions."""


def settle(*runs: Run) -> None:
    """Let all go on until none has anything left to do."""
    for _ in range(3):
        for run in runs:
            run.to_the_end()


def rows_by_window(env: AppEnv) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in env.rows("out"):
        found[row["window_start"][14:19]] = found.get(row["window_start"][14:19], 0) + row["rows"]
    return found


def test_eight_tasks_become_four_and_eight_again_while_another_app_reads_what_they_repartition(
    env: AppEnv,
) -> None:
    by_page = {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}}
    writing = app(
        by_page,
        streams=[events(f"{DELAY}s")],
        name="first",
        config=NOW,
        grouper="tests.harness.user_code.grouper_code:fewer_in_the_middle",
    )
    pages = {
        "name": "pages",
        "topic": writing.intermediate_stream("by-page"),
        "key": "page",
        "columns": "user STRING, page STRING, n INT, ts TIMESTAMP",
        "carriesWatermarks": True,
    }
    out = {"name": "out", "key": "page"}
    reading = app(
        counting("pages", key="page"), sent("counted"), streams=[pages, out], name="second", config=NOW
    )
    env.system.create(f"{env.prefix}events", min(UPSTREAM))
    first = Run.start(env, writing)
    second: Run | None = None
    reached = []
    for period, (partitions, tasks) in enumerate(UPSTREAM.items()):
        env.grow("events", partitions)
        assert bool(first.review()) == bool(period)
        assert len(first.loop.launch.partitions) == tasks
        seconds = range(PERIOD * period, PERIOD * (period + 1))
        env.write("events", inputs([at(n, user) for n in seconds for user in USERS], "user"), partitions)
        first.to_the_end()
        second = second or Run.start(env, reading)
        settle(first, second)
        reached.append(second.loop.planner.reached.streams["pages"])
        complete = (PERIOD * (period + 1) - 1 - DELAY) // 10
        whole = [f"{s // 60:02}:{s % 60:02}" for s in range(0, complete * 10, 10)]
        assert rows_by_window(env) == dict.fromkeys(whole, 10 * len(USERS))
    assert reached == sorted(set(reached))

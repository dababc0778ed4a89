"""After `resetNonce` was raised nothing of before shows, not even in a store made of its changelog."""

import shutil
from collections.abc import Mapping

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs, last_by_key

EVENTS = {"name": "events", "key": "n", "columns": "user STRING, n INT"}
OUT = {"name": "out", "key": "user"}


def totals(reset: int, start: str = "earliest") -> StreamApp:
    counted = {"from": "by-user", "key": "user", "aggregates": "count(*) AS rows"}
    return app(
        {"name": "by-user", "partitionBy": {"from": "events", "key": "user"}},
        {"name": "totals", "aggregate": counted},
        {"name": "sent", "sendTo": {"from": "totals", "stream": "out"}},
        streams=[{**EVENTS, "start": start}, OUT],
        resetNonce=reset,
    )


def write(env: AppEnv, **rows: int) -> None:
    """So many events of each user."""
    events: list[Row] = [{"user": user, "n": n} for user, count in rows.items() for n in range(count)]
    env.write("events", inputs(events, "n"))


def counted(env: AppEnv) -> Mapping[str | None, int]:
    return {user: value["rows"] for user, value in last_by_key(env.records("out")).items()}


def test_a_run_that_begins_anew_reads_from_the_start_and_counts_each_row_once(env: AppEnv) -> None:
    write(env, ann=10, bob=4)
    env.run(totals(0))
    env.run(totals(1))
    assert counted(env) == {"ann": 10, "bob": 4}
    write(env, bob=1)
    env.run(totals(1))
    assert counted(env) == {"ann": 10, "bob": 5}


def test_what_lay_between_two_stages_and_in_changelogs_is_not_taken_up_again(env: AppEnv) -> None:
    write(env, ann=10, bob=4)
    env.run(totals(0))
    write(env, ann=5)
    _, ready = env.launched(totals(0))
    loop = env.loop(CurrentRun.of(ready, batch_rows=100))
    loop.start()
    loop.step()  # repartitioned, and not counted

    env.run(totals(1, "latest"))
    assert counted(env) == {"ann": 10, "bob": 4}  # as it was said before
    write(env, ann=3)
    env.run(totals(1, "latest"))
    assert counted(env) == {"ann": 3, "bob": 4}

    shutil.rmtree(env.home.state)
    write(env, ann=1, bob=1)
    env.run(totals(1, "latest"))
    assert counted(env) == {"ann": 4, "bob": 1}

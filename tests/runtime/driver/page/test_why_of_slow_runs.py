"""What makes a real run slow is planted, served on its page, and found by the rules of `streamapp why`."""

import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest

from streamapp.cli.app_table.local_pages import LocalPages, PageAddress
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.cli.diagnosis.situations import Finding, findings_of
from tests.harness.engine.watched_pages import page_served
from tests.harness.runs.app_runs import AppEnv, Row, app, inputs
from tests.harness.runs.planted_faults import (
    SKEWED_KEYS,
    begin_both,
    go_on_alone,
    joined_remotely,
    remote_table,
    two_streams,
)
from tests.harness.runs.run_systems import ON_SPARK
from tests.harness.runs.watched_loop import WatchedLoop

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
STREAMS = [EVENTS, {"name": "out"}]
ROWS = 200
"""So few records are read in a batch that an app with thousands stays behind for as long as it is watched."""
RUNNING_APP = {
    "metadata": {"name": "app", "namespace": "shop"},
    "spec": {},
    "status": {
        "acceptedGeneration": 1,
        "conditions": [{"type": "Ready", "status": "True", "reason": "Running", "message": ""}],
    },
}
SENT = {"name": "sent", "sendTo": {"from": "made", "stream": "out"}}
SLOW_CODE = {
    "name": "made",
    "map": {
        "from": "events",
        "python": "tests.harness.user_code.graph_code:slow",
        "columns": "user STRING, n INT",
    },
}
LETTERS = "length(regexp_replace(repeat(user, 5000), '[aeiou]', '-'))"
SPARK = {
    "name": "made",
    "flatMap": {"from": "events", "select": f"user, n, explode(array(n, {LETTERS})) AS m"},
}
PLAIN = {"name": "made", "filter": {"from": "events", "where": "n > 0"}}
LOOKUP = joined_remotely("made")


def found(run: WatchedLoop) -> list[Finding]:
    """What is the matter by all that the page serves, as `streamapp why` reads it."""
    with page_served(run.recorder) as url:
        address = urlsplit(url)
        page = PageAddress(str(address.hostname), int(address.port or 0))
        (figures,) = LocalPages((page,), time.monotonic).read().apps
    return findings_of(SituationFacts(RUNNING_APP, run=figures.run))


def users(count: int) -> Sequence[Any]:
    return inputs([{"user": f"user {number}", "n": 1} for number in range(count)], "user")


@ON_SPARK
@pytest.mark.parametrize(
    ("operator", "python", "situation", "detail"),
    [
        (LOOKUP, "SlowFolder", "slow-remote-table", "it has asked the remote table far for "),
        (SLOW_CODE, "", "slow-code", "the app's own code in made takes "),
        (SPARK, "", "slow-expressions", "the expressions of made, which Spark evaluates, take "),
    ],
)
def test_what_takes_most_of_the_batches_of_an_app_that_is_behind_is_found(
    env: AppEnv, operator: Row, python: str, situation: str, detail: str
) -> None:
    env.write("events", users(10_000))
    tables = remote_table(env, python) if python else []
    run = WatchedLoop.start(env, app(operator, SENT, streams=STREAMS, tables=tables), rows=ROWS)
    run.steps(5)
    (finding,) = found(run)
    assert (finding.situation, detail in finding.detail) == (situation, True), finding
    run.release()


@ON_SPARK
@pytest.mark.parametrize(
    ("operator", "python"), [(PLAIN, ""), (LOOKUP, "SlowFolder"), (SLOW_CODE, ""), (SPARK, "")]
)
def test_a_small_app_that_keeps_up_has_nothing_the_matter(env: AppEnv, operator: Row, python: str) -> None:
    tables = remote_table(env, python) if python else []
    env.write("events", [])
    run = WatchedLoop.start(env, app(operator, SENT, streams=STREAMS, tables=tables))
    for _ in range(4):
        env.write("events", users(20))
        run.to_the_end()
    assert sum(1 for batch in run.snapshot()["batches"] if batch["rowsIn"]) >= 4
    assert found(run) == []
    run.release()


@ON_SPARK
def test_a_key_with_most_of_the_records_is_a_slow_task(env: AppEnv) -> None:
    env.write("events", inputs([{"user": key, "n": 1} for key in SKEWED_KEYS], "user"), 4)
    run = WatchedLoop.start(env, app(PLAIN, SENT, streams=STREAMS), rows=ROWS)
    run.steps(4)
    (finding,) = found(run)
    assert finding.situation == "slow-task"
    assert "look for a key that most records of events#" in finding.detail
    run.to_the_end()
    assert found(run) == []
    run.release()


@ON_SPARK
def test_a_stream_that_has_stopped_is_a_stuck_watermark(env: AppEnv) -> None:
    begin_both(env)
    run = WatchedLoop.start(env, two_streams())
    run.to_the_end()
    assert found(run) == []
    go_on_alone(env, 900)
    run.to_the_end()
    (finding,) = found(run)
    assert finding.situation == "stuck-watermark"
    assert finding.detail.startswith("stopped holds back the watermark of both, counted")
    assert "has not moved" not in finding.detail
    run.clock.seconds += 240
    go_on_alone(env, 901)
    run.to_the_end()
    (finding,) = found(run)
    assert " UTC and has not moved for 4 minutes, 14 minutes behind events; look for" in finding.detail
    run.release()

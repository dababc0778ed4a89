"""`streamapp state read` prints the rows of every store that `state list` names, whatever keeps state."""

import json
import subprocess
from datetime import UTC, datetime
from typing import Any

import pytest
from click.testing import CliRunner

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.cli.state import state
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, inputs
from tests.harness.runs.run_systems import ON_KAFKA
from tests.harness.runs.timed_streams import NOW
from tests.harness.user_code.graph_code import Counting

TIMED = {"column": "at", "unit": "milliseconds"}
EVENTS = {
    "name": "events",
    "key": "user",
    "columns": "user STRING, page STRING, n INT, at BIGINT",
    "eventTime": TIMED,
}
CLICKS = {"name": "clicks", "key": "user", "columns": "user STRING, m DOUBLE, at BIGINT", "eventTime": TIMED}
START = 1_767_225_600_000  # the first moment of 2026
ROWS = [("ann", "/", 1, 0), ("ann", "/cart", 2, 4), ("bob", "/", 3, 5), ("ann", "/", 4, 61)]


def moment(second: int) -> int:
    return START + 1000 * second


def second(number: int) -> str:
    return datetime.fromtimestamp(moment(number) / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


def keeping_all() -> StreamApp:
    sums = {"from": "events", "aggregates": "sum(n) AS total, avg(n + 1) AS mean"}
    minutes = {"from": "events", "aggregates": "count(*) AS rows", "window": {"tumbling": {"size": "1m"}}}
    sessions = {"from": "events", "aggregates": "max(n) AS most", "window": {"session": {"gap": "10s"}}}
    kept: list[Row] = [
        {"name": "totals", "aggregate": sums},
        {
            "name": "by-page",
            "aggregate": {"from": "events", "key": "user, page", "aggregates": "count(*) AS rows"},
        },
        {"name": "minutes", "aggregate": minutes},
        {"name": "visits", "aggregate": sessions},
        {
            "name": "pairs",
            "join": {
                "from": ["events", "clicks"],
                "within": "5s",
                "time": "event",
                "select": "left.user AS user, n, m",
            },
        },
        {
            "name": "counted",
            "process": {
                "from": "events",
                "python": f"{Counting.__module__}:{Counting.__name__}",
                "columns": "user STRING, seen BIGINT",
            },
        },
    ]
    last = {"name": "last", "columns": "user STRING, page STRING, n INT, at BIGINT"}
    sent = [{"name": f"{k['name']}-out", "sendTo": {"from": k["name"], "stream": "out"}} for k in kept]
    put = {"name": "put", "sendToTable": {"from": "events", "table": "last"}}
    return app(*kept, *sent, put, streams=[EVENTS, CLICKS, {"name": "out"}], tables=[last], config=NOW)


@pytest.fixture
def data(env: AppEnv) -> str:
    rows = [
        Input(user, {"user": user, "page": page, "n": n, "at": moment(s)}, moment(s))
        for user, page, n, s in ROWS
    ]
    env.write("events", rows, partitions=1)
    env.write("clicks", [Input("ann", {"user": "ann", "m": 0.5, "at": moment(62)}, moment(62))], partitions=1)
    command = env.command(keeping_all(), "--until-end")
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return str(env.data)


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(state, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows_of(data: str, store: str, *options: str) -> list[tuple[str, dict[str, Any]]]:
    lines = printed("read", data, store, "-o", "json", *options).splitlines()
    return [(row["key"], row["row"]) for row in map(json.loads, lines)]


@pytest.mark.usefixtures("process")
def test_every_store_that_is_listed_is_read_with_names_and_keys(data: str) -> None:
    listed = {store["table"] for store in json.loads(printed("list", data, "-o", "json"))}
    assert listed == {"totals", "by-page", "minutes", "visits", "pairs", "counted", "last"}
    assert rows_of(data, "totals") == [
        ("ann", {"sum(n)": 7, "sum(CAST(n + 1 AS DOUBLE))": 10, "count(n + 1)": 3}),
        ("bob", {"sum(n)": 3, "sum(CAST(n + 1 AS DOUBLE))": 4, "count(n + 1)": 1}),
    ]
    assert rows_of(data, "by-page") == [
        ('{"user":"ann","page":"/"}', {"count(*)": 2}),
        ('{"user":"ann","page":"/cart"}', {"count(*)": 1}),
        ('{"user":"bob","page":"/"}', {"count(*)": 1}),
    ]
    minute = {"window_start": second(60), "window_end": second(120), "user": "ann", "count(*)": 1}
    assert rows_of(data, "minutes") == [("ann", minute)]
    assert rows_of(data, "visits") == [
        ("ann", {"window_start": second(61), "window_end": second(71), "user": "ann", "max(n)": 4})
    ]
    click = {"user": "ann", "m": 0.5, "at": moment(62)}
    event = {"user": "ann", "page": "/", "n": 4, "at": moment(61)}
    assert rows_of(data, "pairs") == [
        ("ann", {"side": "left", "time": second(61), **event}),
        ("ann", {"side": "right", "time": second(62), **click}),
    ]
    assert rows_of(data, "counted") == [("ann", {"seen": 3}), ("bob", {"seen": 1})]
    assert dict(rows_of(data, "last"))["ann"]["n"] == 4

    assert rows_of(data, "by-page", "--key", '{"user":"bob","page":"/"}') == [
        ('{"user":"bob","page":"/"}', {"count(*)": 1})
    ]
    assert rows_of(data, "minutes", "--key", "bob") == []
    head, left, right = printed("read", data, "pairs").splitlines()
    assert head.split() == ["TASK", "KEY", "side", "time", "user", "page", "n", "at", "m"]
    assert (left.split()[-2:], right.split()[-2:]) == (["4", str(moment(61))], [str(moment(62)), "0.5"])
    wrong = CliRunner().invoke(state, ["read", data, "minute"])
    assert (wrong.exit_code, 'did you mean "minutes"?' in wrong.stderr) == (1, True)


@ON_KAFKA
def test_state_of_an_app_on_kafka_is_read_from_its_folder_and_the_changelogs_that_are_named(
    env: AppEnv,
) -> None:
    people = {"name": "people", "key": "user", "columns": "user STRING, name STRING"}
    made = app(
        {"name": "totals", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}},
        {"name": "met", "joinTable": {"from": "totals", "table": "names", "select": "user, total, name"}},
        {"name": "sent", "sendTo": {"from": "met", "stream": "out"}},
        streams=[EVENTS, people, {"name": "out"}],
        tables=[{"name": "names", "store": "lmdb", "sideInputs": [{"stream": "people", "bootstrap": True}]}],
    )
    row = {"user": "ann", "page": "/", "n": 3, "at": moment(0)}
    env.write("events", [Input("ann", row, moment(0))], partitions=1)
    env.write("people", inputs([{"user": "ann", "name": "Ann"}], "user"), partitions=1)
    command = env.command(made, "--until-end")
    subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    data, file = str(env.data), command[2]
    assert rows_of(data, "names") == [("ann", {"user": "ann", "name": "Ann"})]
    assert rows_of(data, "totals", "--log", file) == [("ann", {"sum(n)": 3})]
    for source, hint in ((data, "wrote it with --log"), (file, "for its changelogs the app with --log")):
        refused = CliRunner().invoke(state, ["read", source, "totals"])
        assert (refused.exit_code, hint in refused.stderr) == (2, True)

"""What the address of an app's state answers, and what the commands make of it."""

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner, Result

from streamapp_runtime.cli.state import state
from streamapp_runtime.driver.state_queries.open_snapshots import MOST_SNAPSHOTS
from streamapp_runtime.driver.state_queries.query_routes import DEFAULT_LIMIT
from streamapp_runtime.driver.state_queries.state_lookup_request import MOST_ENTRIES, MOST_KEYS
from tests.harness.runs.app_runs import AppEnv, Input, app
from tests.harness.runs.asked_state import state_served
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.growing_loop import Run

USERS = 130
STREAMS = [{"name": "events", "key": "user", "columns": "user STRING, n INT"}]
ODD_KEY = "a/b?c&d=é %+"


class ServedState:
    def __init__(self, url: str, notes: list[Mapping[str, object]]) -> None:
        self.url, self.notes = url, notes

    def asked(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, Any]]:
        where = urlsplit(self.url)
        connection = HTTPConnection(where.hostname or "", where.port, timeout=30)
        try:
            connection.request(method, path, headers=headers)
            response = connection.getresponse()
            assert response.headers["Content-Type"] == "application/json; charset=utf-8"
            assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Access-Control-Allow-Origin" not in response.headers
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def refused(self, path: str) -> str:
        status, answer = self.asked(path)
        assert status == 400, answer
        return str(answer["error"])

    def command(self, verb: str, *arguments: str) -> Result:
        return CliRunner().invoke(state, [verb, self.url, *arguments])


@pytest.fixture
def served(env: AppEnv) -> Iterator[ServedState]:
    users = [f"u{n:03}" for n in range(USERS)] + [ODD_KEY]
    env.write("events", [Input(user, {"user": user, "n": n}) for n, user in enumerate(users)], 3)
    totals = {"name": "totals", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}}
    loop = Run.start(env, app(totals, streams=STREAMS)).loop
    drain(loop)
    with state_served(loop) as (url, notes):
        yield ServedState(url, notes)


@pytest.mark.usefixtures("loopback")
def test_tables_are_listed_and_rows_are_served(served: ServedState) -> None:
    assert served.asked("/state") == served.asked("/state/") == (200, {"tables": ["totals"]})
    status, answer = served.asked("/state/totals?key=u007&key=u100")
    assert status == 200
    assert [(row["key"], row["row"]) for row in answer["rows"]] == [
        ("u007", {"sum(n)": 7}),
        ("u100", {"sum(n)": 100}),
    ]
    assert "next" not in answer


@pytest.mark.usefixtures("loopback")
def test_a_scan_gives_as_much_as_it_may_and_where_it_goes_on(served: ServedState) -> None:
    _, first = served.asked("/state/totals?prefix=u")
    _, second = served.asked(f"/state/totals?prefix=u&after={first['next']}")
    assert [row["key"] for row in first["rows"] + second["rows"]] == [f"u{n:03}" for n in range(USERS)]
    assert len(first["rows"]) == DEFAULT_LIMIT
    assert "next" not in second


@pytest.mark.usefixtures("loopback")
def test_a_snapshot_is_read_in_pages_by_the_name_that_the_first_has(served: ServedState) -> None:
    rows, pages = [], 0
    answer = {"next": "", "snapshot": "new"}
    names = set()
    while "next" in answer:
        path = f"/state/totals?prefix=u&limit=50&snapshot={answer['snapshot']}&after={answer['next']}"
        status, answer = served.asked(path)
        assert status == 200
        rows += answer["rows"]
        names |= {answer["snapshot"]} if "snapshot" in answer else set()
        pages += 1
    assert [row["key"] for row in rows] == [f"u{n:03}" for n in range(USERS)]
    assert (len(names), pages >= 3) == (1, True)
    status, answer = served.asked(f"/state/totals?prefix=u&limit=50&snapshot={names.pop()}")
    assert status == 410
    assert answer["error"].startswith("the snapshot no longer exists, begin the scan again: ")


@pytest.mark.usefixtures("loopback")
def test_a_snapshot_is_of_one_table_and_prefix_and_some_are_open_at_a_time(served: ServedState) -> None:
    name = served.asked("/state/totals?limit=5&snapshot=new")[1]["snapshot"]
    assert "of another table or prefix" in served.refused(f"/state/totals?prefix=u&snapshot={name}")
    assert '"after" goes with the snapshot' in served.refused("/state/totals?snapshot=new&after=YQ==")
    assert '"key" and "snapshot" exclude' in served.refused("/state/totals?snapshot=new&key=a")
    for _ in range(MOST_SNAPSHOTS - 1):
        assert served.asked("/state/totals?limit=5&snapshot=new")[0] == 200
    status, answer = served.asked("/state/totals?limit=5&snapshot=new")
    assert (status, "snapshots are being read already" in answer["error"]) == (503, True)
    assert served.asked(f"/state/totals?limit=5&snapshot={name}")[0] == 200


@pytest.mark.usefixtures("loopback")
def test_what_cannot_be_asked_is_refused_with_what_can(served: ServedState) -> None:
    assert served.asked("/state/total")[0] == 404
    assert 'did you mean "totals"?' in served.asked("/state/total")[1]["error"]
    assert 'there are "key", "prefix", "after", "limit", "snapshot"' in served.refused(
        "/state/totals?wrong=1"
    )
    assert served.refused("/state/totals?limit=0") == f'"limit" is a number from 1 to {MOST_ENTRIES:,}'
    assert "a number from 1" in served.refused(f"/state/totals?limit={MOST_ENTRIES + 1}")
    assert "a number from 1" in served.refused("/state/totals?limit=")
    assert '"key" and "limit" exclude each other' in served.refused("/state/totals?key=a&limit=1")
    assert '"prefix" is given twice' in served.refused("/state/totals?prefix=a&prefix=b")
    assert "not what an earlier answer had" in served.refused("/state/totals?after=%%%")
    keys = "&".join(f"key={n}" for n in range(MOST_KEYS + 1))
    assert f"ask for at most {MOST_KEYS}" in served.refused(f"/state/totals?{keys}")
    assert "ask for fewer" in served.refused(f"/state/totals?{keys}&{keys}")


@pytest.mark.usefixtures("loopback")
def test_only_this_machine_asks_and_nothing_is_written(served: ServedState) -> None:
    assert served.asked("/state/totals", Host="other.example")[0] == 403
    for method in ("POST", "PUT", "DELETE"):
        assert served.asked("/state/totals", method)[0] == 405
    assert served.notes == []


@pytest.mark.usefixtures("loopback")
def test_each_query_is_noted_without_its_keys(served: ServedState) -> None:
    served.asked("/state/totals?key=u007&key=nobody")
    served.asked("/state/totals?limit=5")
    of_all = {"event": "stateQuery", "table": "totals", "client": "127.0.0.1"}
    assert served.notes == [of_all | {"keys": 2, "rows": 1}, of_all | {"keys": 0, "rows": 5}]


@pytest.mark.usefixtures("loopback")
def test_commands_print_rows(served: ServedState) -> None:
    lines = served.command("get", "totals", "u007", ODD_KEY).stdout.splitlines()
    assert [line.split()[-1] for line in lines] == ["sum(n)", str(USERS), "7"]
    rows = [json.loads(line) for line in served.command("scan", "totals", "-o", "json").stdout.splitlines()]
    assert [row["key"] for row in rows] == [ODD_KEY, *(f"u{n:03}" for n in range(99))]
    every = served.command("scan", "totals", "--limit", "5000", "-o", "json").stdout.splitlines()
    assert len(every) == USERS + 1
    whole = served.command("scan", "totals", "--all", "-o", "json").stdout.splitlines()
    assert whole == every
    few = served.command("scan", "totals", "--prefix", "u01", "--limit", "3")
    assert len(few.stdout.splitlines()) == 4
    assert few.stderr == "there are more than 3 rows; see --limit, --all and --prefix\n"


@pytest.mark.usefixtures("loopback")
def test_commands_say_what_is_wrong(served: ServedState) -> None:
    nobody = served.command("get", "totals", "nobody")
    assert (nobody.exit_code, nobody.stdout.split()) == (1, ["TASK", "KEY"])
    unknown = served.command("scan", "total")
    assert (unknown.exit_code, 'did you mean "totals"?' in unknown.stderr) == (1, True)
    elsewhere = CliRunner().invoke(state, ["get", "http://127.0.0.1:9", "totals", "u"])
    assert (elsewhere.exit_code, "no app answers at http://127.0.0.1:9" in elsewhere.stderr) == (3, True)
    both = CliRunner().invoke(state, ["get", served.url, "totals", "u", "--namespace", "shop"])
    assert (both.exit_code, "an address is of no cluster" in both.stderr) == (2, True)
    no_host = CliRunner().invoke(state, ["scan", "http://", "totals"])
    assert (no_host.exit_code, "names no host" in no_host.stderr) == (2, True)


@pytest.mark.usefixtures("loopback")
def test_others_need_the_token_and_then_ask_as_any_host(env: AppEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    bearer = "Bearer of-the-app"
    sent = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}
    env.write("events", [Input("u", {"user": "u", "n": 1})], 1)
    loop = Run.start(env, app(sent, streams=[*STREAMS, {"name": "out"}])).loop
    drain(loop)
    with state_served(loop, bearer.removeprefix("Bearer ")) as (url, _):
        served = ServedState(url, [])
        right = {"Host": "driver.shop", "Authorization": bearer}
        assert served.asked("/state/", **right) == (200, {"tables": []})
        for wrong in ({}, {"Authorization": "Bearer other"}, {"Authorization": "of-the-app"}):
            status, answer = served.asked("/state/", **wrong)
            assert (status, "Authorization: Bearer TOKEN" in answer["error"]) == (401, True)
        assert served.asked("/state/", "POST", **right)[0] == 405
        without = served.command("scan", "events")
        assert (without.exit_code, "send the token of the app" in without.stderr) == (1, True)
        monkeypatch.setenv("STREAMAPP_STATE_TOKEN", "of-the-app")
        assert "no table and no operator with state" in served.command("scan", "events").stderr

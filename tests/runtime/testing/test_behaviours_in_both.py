"""The suite of behaviours: each app in TestApp and by `streamapp run`, with the same expected rows."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pytest

from streamapp.spec.parser import parse_data
from streamapp.spec.serialization import as_yaml
from streamapp.testing import TestApp, assert_rows
from tests.harness.core.app_resources import app_resource
from tests.harness.runs.run_process import COMMAND

Row = dict[str, Any]
FOLDER = Path(__file__).parents[3]
PARTITIONS = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What is written before the app runs on: rows by stream, then the streams that grow."""

    rows: dict[str, Sequence[Row]]
    grown: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """An app, what is written to it, and the rows that are expected of its output."""

    operators: Sequence[Row]
    streams: Sequence[Row]
    rounds: Sequence[Round]
    expected: Sequence[Row]
    tables: Sequence[Row] = ()
    spec: Row = field(default_factory=dict)
    needs_spark: bool = False

    def resource(self) -> Row:
        streams = (*self.streams, {"name": "out"})
        return app_resource(self.operators, streams, self.tables, **{"processors": 1, **self.spec})


VIEWS = {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"}
USERS = {"name": "users", "key": "user", "columns": "user STRING, country STRING"}
EVENTS = {
    "name": "events",
    "key": "user",
    "columns": "user STRING, ts TIMESTAMP",
    "eventTime": {"column": "ts"},
}
TABLE = {"name": "users", "sideInputs": [{"stream": "users", "bootstrap": True}]}


def sent(source: str) -> Row:
    return {"name": "sent", "sendTo": {"from": source, "stream": "out"}}


def view(user: str, page: str, n: int = 1) -> Row:
    return {"user": user, "page": page, "n": n}


def event(user: str, second: int) -> Row:
    return {"user": user, "ts": f"2026-01-01T12:00:{second:02}.000000Z"}


def window(user: str, start: int, n: int) -> Row:
    times = {
        name: f"2026-01-01T12:00:{second:02}.000000Z"
        for name, second in (("window_start", start), ("window_end", start + 10))
    }
    return {"user": user, **times, "n": n}


MANY = [view(f"u{number}", "/", number) for number in range(12)]

BEHAVIOURS = {
    "a filter keeps what a condition says": Behaviour(
        [
            {"name": "real", "filter": {"from": "views", "where": "page NOT LIKE '/health%' AND n > 1"}},
            sent("real"),
        ],
        [VIEWS],
        [
            Round(
                {
                    "views": [
                        view("ann", "/", 2),
                        view("ann", "/health", 2),
                        view("bob", "/", 1),
                        view("cid", "/x", 3),
                    ]
                }
            )
        ],
        [view("ann", "/", 2), view("cid", "/x", 3)],
    ),
    "a map chooses and renames columns": Behaviour(
        [{"name": "named", "map": {"from": "views", "select": "page AS path, user"}}, sent("named")],
        [VIEWS],
        [Round({"views": [view("ann", "/a"), view("bob", "/b")]})],
        [{"path": "/a", "user": "ann"}, {"path": "/b", "user": "bob"}],
    ),
    "a table joins through a repartition": Behaviour(
        [
            {"name": "by-user", "partitionBy": {"from": "views", "key": "user"}},
            {
                "name": "joined",
                "joinTable": {"from": "by-user", "table": "users", "select": "user, page, country"},
            },
            sent("joined"),
        ],
        [{**VIEWS, "key": "page"}, USERS],
        [
            Round({"users": [{"user": "ann", "country": "NO"}, {"user": "bob", "country": "FR"}]}),
            Round({"views": [view("ann", "/a"), view("bob", "/b"), view("zoe", "/c")]}),
            Round({"users": [{"user": "zoe", "country": "DE"}]}),
            Round({"views": [view("zoe", "/d")]}),
        ],
        [
            {"user": "ann", "page": "/a", "country": "NO"},
            {"user": "bob", "page": "/b", "country": "FR"},
            {"user": "zoe", "page": "/d", "country": "DE"},
        ],
        [TABLE],
    ),
    "running totals go on after each start": Behaviour(
        [
            {
                "name": "counted",
                "aggregate": {"from": "views", "aggregates": "count(*) AS views, sum(n) AS total"},
            },
            sent("counted"),
        ],
        [VIEWS],
        [
            Round({"views": [view("ann", "/", 2)]}),
            Round({"views": [view("ann", "/", 5), view("bob", "/", 1)]}),
        ],
        [
            {"user": "ann", "views": 1, "total": 2},
            {"user": "ann", "views": 2, "total": 7},
            {"user": "bob", "views": 1, "total": 1},
        ],
    ),
    "windows close when the watermark has passed them": Behaviour(
        [
            {
                "name": "counted",
                "aggregate": {
                    "from": "events",
                    "window": {"tumbling": {"size": "10s"}},
                    "aggregates": "count(*) AS n",
                },
            },
            sent("counted"),
        ],
        [EVENTS],
        [
            Round({"events": [event("ann", 1), event("bob", 2)]}),
            Round({"events": [event("ann", 12), event("bob", 13)]}),
            Round({"events": [event("ann", 3), event("ann", 25), event("bob", 25)]}),
        ],
        [window("ann", 0, 1), window("bob", 0, 1), window("ann", 10, 1), window("bob", 10, 1)],
    ),
    "totals stay with their keys when a stream grows": Behaviour(
        [
            {"name": "counted", "aggregate": {"from": "views", "aggregates": "sum(n) AS total"}},
            sent("counted"),
        ],
        [VIEWS],
        [Round({"views": MANY}, {"views": 8}), Round({"views": MANY})],
        [{"user": row["user"], "total": row["n"] * times} for row in MANY for times in (1, 2)],
    ),
    "own python runs over batches": Behaviour(
        [
            {
                "name": "measured",
                "map": {
                    "from": "views",
                    "python": "tests.harness.user_code.kit_code:lengths",
                    "columns": "user STRING, length INT",
                },
            },
            sent("measured"),
        ],
        [VIEWS],
        [Round({"views": [view("ann", "/abc"), view("bob", "/")]})],
        [{"user": "ann", "length": 4}, {"user": "bob", "length": 1}],
    ),
    "expressions of sparks own": Behaviour(
        [
            {
                "name": "mapped",
                "map": {"from": "views", "select": "user, upper(initcap(page)) AS page, n * 2 AS n"},
            },
            {
                "name": "counted",
                "aggregate": {"from": "mapped", "aggregates": "avg(n) AS mean, max(page) AS last"},
            },
            sent("counted"),
        ],
        [VIEWS],
        [Round({"views": [view("ann", "/a", 1)]}), Round({"views": [view("ann", "/b", 2)]})],
        [{"user": "ann", "mean": 2.0, "last": "/A"}, {"user": "ann", "mean": 3.0, "last": "/B"}],
        needs_spark=True,
    ),
}


class Runner(Protocol):
    """Runs a behaviour, and gives the rows of its output."""

    def __call__(self, behaviour: Behaviour) -> list[Row]: ...


def in_test_app(behaviour: Behaviour) -> list[Row]:
    with TestApp(behaviour.resource(), partitions=PARTITIONS) as app:
        for number, one in enumerate(behaviour.rounds):
            if number:
                app.restart()
            for stream, rows in one.rows.items():
                app.send(stream, rows)
            for stream, count in one.grown.items():
                app.grow(stream, count)
        assert bool(app.spark_reasons) is behaviour.needs_spark
        return [json.loads(json.dumps(row, default=_as_written)) for row in app.rows("out")]


def _as_written(value: Any) -> str:
    return str(value.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


@pytest.fixture
def by_command(tmp_path: Path) -> Callable[[Behaviour], list[Row]]:
    def command(*words: str, stdin: str = "") -> str:
        ended = subprocess.run(
            [COMMAND, *words],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr[-2000:]
        return ended.stdout

    def run(behaviour: Behaviour) -> list[Row]:
        data, file = str(tmp_path / "data"), tmp_path / "app.yaml"
        file.write_text(as_yaml(parse_data(behaviour.resource()).apps[0]), "utf-8")
        code = Path("tests", "harness", "user_code", "kit_code.py")
        (tmp_path / code.parent).mkdir(parents=True)
        shutil.copy(FOLDER / code, tmp_path / code)  # a run finds code beside the resource
        keys = {stream["name"]: stream["key"] for stream in behaviour.streams}
        for name in keys:
            command("log", "create", data, name, "--partitions", str(PARTITIONS))
        for one in behaviour.rounds:
            for stream, rows in one.rows.items():
                lines = "\n".join(json.dumps(row) for row in rows)
                command("log", "write", data, stream, "--key", keys[stream], stdin=lines)
            command("run", str(file), "--data", data, "--until-end", "--quiet")
            for stream, count in one.grown.items():
                command("log", "grow", data, stream, str(count))
        return [json.loads(line) for line in command("log", "read", data, "out").splitlines()]

    return run


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_in_test_app(name: str) -> None:
    assert_rows(in_test_app(BEHAVIOURS[name]), BEHAVIOURS[name].expected)


@pytest.mark.long
@pytest.mark.parametrize("name", BEHAVIOURS)
def test_by_streamapp_run(name: str, by_command: Runner) -> None:
    assert_rows(by_command(BEHAVIOURS[name]), BEHAVIOURS[name].expected)

"""`streamapp sample`: rows that the app itself can read, the same ones for the same seed."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from streamapp.cli.main import root
from streamapp.spec.resource.streams import Stream
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.testing import TestApp
from streamapp_runtime.cli.record_input.sample_rows import Sampling, sample_rows
from streamapp_runtime.formats.stream_format import open_format
from tests.harness.core.sample_resource import everything

COMMAND = Path(sys.executable).with_name("streamapp")
START = datetime(2026, 1, 1, tzinfo=UTC)
SIMPLE = [
    *("STRING", "BOOLEAN", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TINYINT", "SMALLINT", "INT"),
    *("BIGINT", "FLOAT", "DOUBLE", "DECIMAL", "DECIMAL(3, 3)", "DECIMAL(38, 10)", "CHAR(4)"),
]
column_types = st.recursive(
    st.sampled_from(SIMPLE),
    lambda inner: st.one_of(
        inner.map("ARRAY<{}>".format),
        inner.map("MAP<STRING, {}>".format),
        st.tuples(inner, inner).map(lambda pair: f"STRUCT<a: {pair[0]}, `b c`: {pair[1]}>"),
    ),
    max_leaves=4,
)

APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: page-views}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING, page STRING, at BIGINT",
       eventTime: {column: at, unit: milliseconds}}
    - {name: users, system: main, key: user, columns: "user STRING, country STRING, tier INT"}
    - {name: lines, system: main, format: string, columns: "line STRING"}
    - {name: raw, system: main, format: bytes, columns: "line BINARY"}
    - {name: rows, system: main, format: avro, columns: "line STRING"}
    - {name: other, system: main, carriesWatermarks: true, columns: "line STRING"}
    - {name: enriched, system: main, key: user}
  tables: [{name: users, sideInputs: [{stream: users, bootstrap: true}]}]
  operators:
    - {name: joined, joinTable: {from: views, table: users, select: "user, page, country"}}
    - {name: out, sendTo: {from: joined, stream: enriched}}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text(APP, encoding="utf-8")
    return path


@pytest.fixture
def sampled(app: Path) -> Callable[..., Result]:
    def run(*arguments: str) -> Result:
        return CliRunner().invoke(root, ["sample", str(app), *arguments], prog_name="streamapp")

    return run


def rows_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_same_seed_gives_the_same_rows_and_another_one_others(sampled: Callable[..., Result]) -> None:
    first = sampled("views", "--rows", "50").stdout
    assert sampled("views", "--rows", "50").stdout == first
    assert sampled("views", "--rows", "50", "--seed", "2").stdout != first


def test_more_rows_begin_with_the_fewer_ones(sampled: Callable[..., Result]) -> None:
    assert sampled("users", "--rows", "30000").stdout.startswith(sampled("users", "--rows", "20000").stdout)


def test_every_key_comes_once_before_any_comes_again(sampled: Callable[..., Result]) -> None:
    keys = [row["user"] for row in rows_of(sampled("users", "--rows", "30", "--keys", "12"))]
    assert sorted(keys[:12]) == sorted(f"user-{number}" for number in range(12))
    assert set(keys[12:]) <= set(keys[:12])


def test_times_go_up_from_the_start_in_the_form_of_the_event_time(sampled: Callable[..., Result]) -> None:
    rows = rows_of(sampled("views", "--rows", "3", "--start", "2026-11-22T09:30Z", "--every", "250ms"))
    begin = int(datetime(2026, 11, 22, 9, 30, tzinfo=UTC).timestamp() * 1000)
    assert [row["at"] for row in rows] == [begin, begin + 250, begin + 500]


def test_rows_of_two_streams_meet_in_a_join(sampled: Callable[..., Result], app: Path) -> None:
    users, views = rows_of(sampled("users", "--rows", "10")), rows_of(sampled("views", "--rows", "200"))
    with TestApp(app) as tested:
        tested.send("users", users)
        tested.send("views", views)
        assert len(tested.rows("enriched")) == 200
        assert tested.bad() == []


@pytest.mark.usefixtures("process")
def test_log_write_takes_the_rows(app: Path) -> None:
    folder = app.parent
    command = "{0} sample app.yaml views --rows 500 | {0} log write app.yaml views --partitions 4"
    subprocess.run(["/bin/sh", "-c", command.format(COMMAND)], cwd=folder, check=True)
    read = lines_of(folder, "log", "read", "app.yaml", "views")
    assert sorted(read) == sorted(lines_of(folder, "sample", "app.yaml", "views", "--rows", "500"))
    assert len(read) == 500


def test_rows_whose_format_is_no_text_are_printed_as_log_write_takes_them(
    sampled: Callable[..., Result],
) -> None:
    assert [row["line"][:5] for row in rows_of(sampled("rows", "--rows", "2"))] == ["line-"] * 2


def test_texts_are_printed_as_they_are(sampled: Callable[..., Result]) -> None:
    assert {line[:5] for line in sampled("lines").stdout.splitlines()} == {"line-"}


def lines_of(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run([COMMAND, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["user"], 1, 'the app has no stream named "user"; did you mean "users"?'),
        (["enriched"], 1, '"enriched" declares no columns to make rows from: write columns for it'),
        (
            ["raw"],
            1,
            '"raw" has the format bytes: its records are no lines of text; send rows to it',
        ),
        (["other"], 1, '"other" carries watermarks: its records are no lines of text'),
        (["views", "--start", "soon"], 2, 'found "soon"; write a time like 2026-11-22T09:30Z'),
        (["views", "--every", "1"], 2, '"1" is no duration; write it like 500ms'),
        (["views", "--every", "999999999d"], 2, "the last rows would be later than the year 9999"),
        (["views", "--rows", "0"], 2, "0 is not in the range 1<=x<=100000000"),
    ],
)
def test_what_cannot_be_sampled_is_refused(
    sampled: Callable[..., Result], arguments: list[str], code: int, message: str
) -> None:
    result = sampled(*arguments)
    assert (result.exit_code, message in result.stderr, result.stdout) == (code, True, ""), result.stderr


def test_every_stream_with_columns_in_a_resource_with_every_field_is_sampled_or_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "app.yaml"
    path.write_text(yaml.safe_dump(everything()), encoding="utf-8")
    codes = [
        CliRunner().invoke(root, ["sample", str(path), stream["name"]]).exit_code
        for stream in everything()["spec"]["streams"]
    ]
    assert 0 in codes
    assert set(codes) <= {0, 1}


@given(
    kinds=st.lists(column_types, min_size=1, max_size=3),
    key=st.sampled_from(["STRING", "BIGINT", "TINYINT"]),
    seed=st.integers(),
)
def test_the_format_reads_what_it_writes_of_any_columns(kinds: list[str], key: str, seed: int) -> None:
    columns = ", ".join([f"id {key}", *(f"c{number} {kind}" for number, kind in enumerate(kinds))])
    form = open_format("json", parse_columns(columns))
    stream = Stream(name="rows", system="main", key="id", columns=columns)
    sampling = Sampling(
        rows=20, keys=200, key_columns={"id"}, seed=seed, start=START, every=timedelta(seconds=1)
    )
    (batch,) = sample_rows(stream, form.schema, sampling)
    read = form.decode(form.encode(batch))
    assert not read.bad
    assert read.columns.equals(batch)

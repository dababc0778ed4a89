"""What the resource says of streams, tasks and time, as running apps show it."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.start.launch import Launch
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs, last_by_key
from tests.harness.runs.run_systems import ON_SPARK

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
ROWS: list[Row] = [{"user": f"u{i % 5}", "n": i} for i in range(20)]
SENT = {"name": "sent", "sendTo": {"from": "events", "stream": "out"}}


def ticking() -> Iterator[int]:
    """A clock that goes on by a minute whenever it is looked at."""
    return (60_000 * number for number in count())


@ON_SPARK
def test_the_time_of_a_batch_moves_from_one_to_the_next_and_stands_still_within(env: AppEnv) -> None:
    made = app(
        {
            "name": "timed",
            "map": {"from": "events", "select": "n, unix_timestamp(current_timestamp()) AS at"},
        },
        {"name": "sent", "sendTo": {"from": "timed", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
    )
    env.write("events", inputs(ROWS, "user"), partitions=1)
    ready: Launch
    _, ready = env.launched(made)
    clock = ticking()
    loop = env.loop(CurrentRun.of(ready, batch_rows=10), clock=lambda: next(clock))
    while loop.planner.behind:
        loop.step()
    loop.release()
    times = [row["at"] for row in sorted(env.rows("out"), key=lambda row: row["n"])]
    assert len(set(times[:10])) == len(set(times[10:])) == 1
    assert times[0] < times[10]


def test_columns_may_have_names_that_are_words_of_sql_or_hold_hyphens_and_dots(env: AppEnv) -> None:
    odd = {"name": "events", "key": "user-id", "columns": "`user-id` STRING, `select` INT, `a.b` INT"}
    made = app(
        {"name": "some", "filter": {"from": "events", "where": "`select` > 1 AND `a.b` IS NOT NULL"}},
        {"name": "more", "map": {"from": "some", "select": "`user-id`, `select` + 1 AS `from`, `a.b`"}},
        {"name": "moved", "partitionBy": {"from": "more", "key": "`user-id`"}},
        {"name": "sent", "sendTo": {"from": "moved", "stream": "out"}},
        streams=[odd, {"name": "out"}],
    )
    rows = [{"user-id": f"u{i}", "select": i, "a.b": i} for i in range(5)]
    env.write("events", inputs(rows, "user-id"))
    env.run(made)
    expected = [{"user-id": f"u{i}", "from": i + 1, "a.b": i} for i in (2, 3, 4)]
    assert env.rows("out") == in_order(expected)


def test_one_task_for_all_gives_each_row_once_whatever_the_number_of_processors(env: AppEnv) -> None:
    made = app(
        {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS n"}},
        {"name": "told", "sendTo": {"from": "counted", "stream": "counts"}},
        SENT,
        streams=[EVENTS, {"name": "out"}, {"name": "counts", "key": "user"}],
        grouper="single",
        processors=2,
    )
    env.write("events", inputs(ROWS, "user"), partitions=3)
    env.run(made, rows=7, processors=2)
    assert env.rows("out") == in_order(ROWS)
    counts = last_by_key(env.records("counts"))
    assert {user: row["n"] for user, row in counts.items()} == {f"u{i}": 4 for i in range(5)}


@pytest.mark.parametrize("grouper", ["streamPartition", "single"])
def test_tasks_formed_in_other_ways_read_every_record_once(env: AppEnv, grouper: str) -> None:
    made = app(
        {"name": "moved", "partitionBy": {"from": "events", "key": "n"}},
        {"name": "sent", "sendTo": {"from": "moved", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
        grouper=grouper,
    )
    env.write("events", inputs(ROWS, "user"), partitions=3)
    env.run(made, rows=7)
    assert env.rows("out") == in_order(ROWS)


def joined(grouper: str) -> StreamApp:
    return app(
        {"name": "with", "joinTable": {"from": "events", "table": "tiers", "select": "user, n, tier"}},
        {"name": "sent", "sendTo": {"from": "with", "stream": "out"}},
        streams=[
            EVENTS,
            {"name": "users", "key": "user", "columns": "user STRING, tier INT"},
            {"name": "out"},
        ],
        tables=[{"name": "tiers", "sideInputs": [{"stream": "users", "bootstrap": True}]}],
        grouper=grouper,
    )


def test_a_table_is_joined_where_one_task_reads_everything(env: AppEnv) -> None:
    env.write("users", inputs([{"user": f"u{i}", "tier": i} for i in range(5)], "user"), partitions=3)
    env.write("events", inputs(ROWS, "user"), partitions=3)
    env.run(joined("single"), rows=7)
    assert env.rows("out") == in_order([row | {"tier": int(row["user"][1:])} for row in ROWS])


def test_tasks_by_stream_partition_join_no_table_and_the_stream_is_named(env: AppEnv) -> None:
    for stream in ("users", "events"):
        env.system.create(stream, 3)
    with pytest.raises(AppRefusedError, match=r"^spec\.streams\[1\]: it is joined with events"):
        env.launched(joined("streamPartition"))


def test_a_stream_that_starts_at_its_latest_record_gives_what_comes_after_the_first_start(
    env: AppEnv,
) -> None:
    made = app(SENT, streams=[EVENTS | {"start": "latest"}, {"name": "out"}])
    env.write("events", inputs(ROWS[:10], "user"))
    env.run(made)
    env.write("events", inputs(ROWS[10:], "user"))
    env.run(made)
    assert env.rows("out") == in_order(ROWS[10:])


@pytest.mark.parametrize("form", ["avro", "columns"])
def test_a_stream_of_another_format_is_read_as_it_was_written(env: AppEnv, form: str) -> None:
    there = EVENTS | {"name": "there", "format": form}
    written = app(
        {"name": "sent", "sendTo": {"from": "events", "stream": "there"}}, streams=[EVENTS, there], name="a"
    )
    read = app(
        {"name": "sent", "sendTo": {"from": "there", "stream": "out"}},
        streams=[there, {"name": "out"}],
        name="b",
    )
    env.write("events", inputs(ROWS, "user"))
    env.run(written)
    env.run(read)
    assert env.rows("out") == in_order(ROWS)


def test_texts_and_bytes_pass_as_they_are(env: AppEnv) -> None:
    made = app(
        {"name": "loud", "map": {"from": "lines", "select": "upper(value) AS value"}},
        {"name": "sent", "sendTo": {"from": "loud", "stream": "out"}},
        {"name": "copied", "sendTo": {"from": "raw", "stream": "copy"}},
        streams=[
            {"name": "lines", "format": "string"},
            {"name": "raw", "format": "bytes"},
            {"name": "out", "format": "string"},
            {"name": "copy", "format": "bytes"},
        ],
    )
    env.write("lines", [Input(None, b"one"), Input("k", b"two")])
    env.write("raw", [Input(None, b"\x00\xff")])
    env.run(made)
    assert sorted(record.value for record in env.records("out")) == [b"ONE", b"TWO"]
    assert [record.value for record in env.records("copy")] == [b"\x00\xff"]


def test_a_repartition_that_is_kept_for_others_lets_old_records_go_once_the_app_has_read_them(
    env: AppEnv,
) -> None:
    made = app(
        {"name": "moved", "partitionBy": {"from": "events", "key": "n", "retention": "1h", "partitions": 1}},
        {"name": "sent", "sendTo": {"from": "moved", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
    )
    now = time.time_ns() // 1_000_000
    old = [replace(one, timestamp=now - 400 * 86_400_000) for one in inputs(ROWS, "user")]
    env.write("events", [*old, *(replace(one, timestamp=now) for one in inputs(ROWS[:3], "user"))], 1)
    seconds = (now / 1000 + 60 * number for number in count())
    loop = env.loop(CurrentRun.of(env.launched(made)[1], batch_rows=10))
    loop.backlog.clock = lambda: next(seconds)
    while loop.planner.behind:
        loop.step()
    loop.release()
    assert env.rows("out") == in_order([*ROWS, *ROWS[:3]])
    assert len(env.records(made.intermediate_stream("moved"))) == 3


def test_a_record_without_a_key_takes_that_of_its_key_column_and_a_new_key_moves_it(env: AppEnv) -> None:
    made = app(
        {"name": "moved", "partitionBy": {"from": "events", "key": "n"}},
        {"name": "sent", "sendTo": {"from": "moved", "stream": "out"}},
        {"name": "same", "sendTo": {"from": "events", "stream": "copy"}},
        streams=[EVENTS, {"name": "out"}, {"name": "copy"}],
    )
    env.write("events", [Input(None, {"user": "a", "n": 1}), Input("b", {"user": "b", "n": 2})])
    env.run(made)
    assert set(last_by_key(env.records("out"))) == {"1", "2"}
    assert set(last_by_key(env.records("copy"))) == {"a", "b"}


def test_a_batch_takes_no_more_than_its_bytes_once_it_is_known_how_large_records_are(env: AppEnv) -> None:
    rows = [{"user": f"user-{number}", "text": "x" * 1_000} for number in range(40)]
    env.write("texts", inputs(rows, "user"), partitions=1)
    streams = [
        {"name": "texts", "key": "user", "columns": "user STRING, text STRING"},
        {"name": "out", "key": "user"},
    ]
    copy = {"name": "copy", "sendTo": {"from": "texts", "stream": "out"}}
    batches = env.run(app(copy, streams=streams, batch={"bytes": 8_192}))
    assert [batch.rows_in for batch in batches if batch.rows_in][:2] == [32, 7]
    assert len(env.rows("out")) == 40

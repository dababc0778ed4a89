"""What TestApp does, as a user of it sees it."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from streamapp.dsl import App, SideInput
from streamapp.testing import AppFailedError, AppRefusedError, TestApp, WrongUseError
from tests.harness.core.app_resources import app_resource

EXAMPLE = Path(__file__).parents[3] / "examples" / "page-views" / "app.yaml"
Start = Callable[..., TestApp]

ABSENT_BROKER = {"name": "main", "kafka": {"bootstrapServers": "nowhere:9092"}}
ANN = {"user": "ann", "country": "NO", "tier": 1}


def resource(*operators: dict[str, Any], streams: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    return app_resource(operators, streams, system=ABSENT_BROKER, **spec)


def counting(**spec: Any) -> dict[str, Any]:
    window = {"tumbling": {"size": "10s"}}
    counted = {"from": "events", "window": window, "aggregates": "count(*) AS n"}
    return resource(
        {"name": "counted", "aggregate": counted},
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[
            {
                "name": "events",
                "key": "user",
                "columns": "user STRING, ts TIMESTAMP",
                "eventTime": {"column": "ts"},
            },
            {"name": "out", "key": "user"},
        ],
        **spec,
    )


def filtered(where: str = "page NOT LIKE '/health%'", **spec: Any) -> dict[str, Any]:
    return resource(
        {"name": "real", "filter": {"from": "views", "where": where}},
        {"name": "sent", "sendTo": {"from": "real", "stream": "out"}},
        streams=[
            {"name": "views", "key": "user", "columns": "user STRING, page STRING, n INT"},
            {"name": "out"},
        ],
        **spec,
    )


def test_the_first_example_joins_views_with_users(streamapp: Start) -> None:
    app = streamapp(EXAMPLE)
    app.send("users", ANN)
    app.send(
        "views", [{"user": "ann", "page": "/"}, {"user": "ann", "page": "/health"}], at="2026-01-01T12:00"
    )
    app.send("views", {"user": "bob", "page": "/"})
    assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]
    assert app.table("users") == {"ann": ANN}
    assert app.spark_reasons == ()


def test_a_python_program_runs_as_its_resource_does(streamapp: Start) -> None:
    app = streamapp(EXAMPLE.with_name("app.py"))
    app.send("users", ANN)
    app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
    assert len(app.rows("enriched")) == 1


def test_rows_for_tables_are_seen_without_their_database(streamapp: Start) -> None:
    app = App("sales")
    columns = "id STRING, total INT"
    orders = app.embedded("main", path="data").stream("orders", key="id", columns=columns)
    shop = app.postgres("shop", servers="nowhere:5432", database="shop")
    orders.send_to("sell", shop.stream("sales", key="id", columns=columns, primary_key=["id"]))
    env = streamapp(app)
    rows = [{"id": "a", "total": 1}, {"id": "a", "total": 2}]
    env.send("orders", rows)
    assert env.rows("sales") == rows


@pytest.mark.usefixtures("process")
def test_an_app_runs_without_a_jvm() -> None:
    program = textwrap.dedent(
        f"""
        import os
        os.environ["JAVA_HOME"] = os.environ["SPARK_HOME"] = "/nowhere"
        os.environ["PATH"] = "/nowhere"
        from streamapp.testing import TestApp
        with TestApp({str(EXAMPLE)!r}) as app:
            app.send("users", {ANN!r})
            app.send("views", {{"user": "ann", "page": "/"}}, at="2026-01-01T12:00")
            assert len(app.rows("enriched")) == 1
        """
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_windows_close_by_event_time_and_late_rows_are_seen(streamapp: Start) -> None:
    app = streamapp(counting())
    app.send("events", [{"user": "ann"}, {"user": "ann"}], at="2026-01-01T12:00:01")
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:12")
    assert [(row["user"], row["n"]) for row in app.rows("out")] == [("ann", 2)]
    app.send("events", {"user": "ann", "ts": datetime(2026, 1, 1, 12, 0, 2, tzinfo=UTC)})
    assert [(late.operator, late.row["user"]) for late in app.late()] == [("counted", "ann")]
    assert len(app.rows("out")) == 1


def test_rows_that_wait_for_others_by_the_clock_go_out_when_it_moves(streamapp: Start) -> None:
    columns = {"key": "user", "columns": "user STRING, n INT"}
    joined = {"from": ["views", "orders"], "within": "1m", "time": "arrival", "type": "left"}
    app = streamapp(
        resource(
            {"name": "joined", "join": {**joined, "select": "left.user AS user, right.n AS n"}},
            {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
            streams=[{"name": "views", **columns}, {"name": "orders", **columns}, {"name": "out"}],
        )
    )
    app.send("views", {"user": "ann", "n": 1})
    app.advance(by="30s")
    assert app.rows("out") == []
    app.advance(by="2m")
    assert app.rows("out") == [{"user": "ann", "n": None}]


def test_a_silent_partition_is_left_out_once_the_clock_says_so(streamapp: Start) -> None:
    made = counting()
    made["spec"]["streams"][0]["eventTime"] = {"column": "ts", "idleTimeout": "20s"}
    app = streamapp(
        made | {"spec": made["spec"] | {"grouper": "single"}}, partitions=2, at="2026-01-01T12:00"
    )
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:01")
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:12")
    assert app.rows("out") == []
    app.advance(by="5s")
    assert app.rows("out") == []
    app.advance(to="2026-01-01T12:00:25")
    assert [row["n"] for row in app.rows("out")] == [1]


def test_watermarks_go_through_a_repartition_without_waiting(streamapp: Start) -> None:
    made = counting()
    made["spec"]["operators"].insert(0, {"name": "by-user", "partitionBy": {"from": "events", "key": "user"}})
    made["spec"]["operators"][1]["aggregate"]["from"] = "by-user"
    app = streamapp(made, partitions=1)
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:01")
    app.send("events", {"user": "bob"}, at="2026-01-01T12:00:12")
    assert [(row["user"], row["n"]) for row in app.rows("out")] == [("ann", 1)]
    app.send("events", {"user": "bob"}, at="2026-01-01T12:00:22")
    assert [(row["user"], row["n"]) for row in app.new_rows("out")] == [("ann", 1), ("bob", 1)]
    assert app.new_rows("out") == []


def test_new_rows_are_those_since_the_last_call_in_each_partition(streamapp: Start) -> None:
    made = filtered()
    app = streamapp(made, partitions={"views": 4, "out": 4})
    users = [f"user-{number}" for number in range(8)]
    app.send("views", [{"user": user, "page": "/"} for user in users])
    assert len({record.partition for record in app.records("out")}) > 1
    assert sorted(row["user"] for row in app.new_rows("out")) == users
    for user in users:
        app.send("views", {"user": user, "page": "/cart"})
        assert [(row["user"], row["page"]) for row in app.new_rows("out")] == [(user, "/cart")]


def test_bad_records_are_seen_where_the_app_goes_on(streamapp: Start) -> None:
    app = streamapp(filtered(onBadRecord={"action": "skip"}))
    app.send("views", [b"no json", {"user": "ann", "page": "/"}])
    assert [row["page"] for row in app.rows("out")] == ["/"]
    ((bad),) = app.bad()
    assert (bad.stream, bad.partition, bad.offset, bad.value) == ("views", 0, 0, b"no json")


def test_a_bad_record_fails_the_app_where_it_is_to_fail(streamapp: Start) -> None:
    app = streamapp(filtered())
    with pytest.raises(AppFailedError, match="views#0 at offset 0"):
        app.send("views", b"no json")
    with pytest.raises(WrongUseError, match="does not run"):
        app.advance(by="1s")


def test_a_sum_that_does_not_fit_leaves_out_its_own_record_alone(streamapp: Start) -> None:
    app = streamapp(
        resource(
            {"name": "totals", "aggregate": {"from": "sales", "aggregates": "sum(n) AS total"}},
            {"name": "sent", "sendTo": {"from": "totals", "stream": "out"}},
            streams=[{"name": "sales", "key": "user", "columns": "user STRING, n BIGINT"}, {"name": "out"}],
            onBadRecord={"action": "skip"},
        )
    )
    app.send("sales", [{"user": user, "n": 2**62} for user in ("ann", "bob", "bob")])
    assert app.rows("out") == [{"user": "ann", "total": 2**62}, {"user": "bob", "total": 2**62}]
    ((bad),) = app.bad()
    assert (bad.offset, bad.key) == (2, b"bob")
    assert bad.reason == (
        "with it, sum(n) of its group would be 9223372036854775808, which BIGINT does not hold"
    )


def test_a_restart_goes_on_where_the_app_was(streamapp: Start) -> None:
    app = streamapp(counting())
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:01")
    app.restart()
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:03")
    app.kill()
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:12")
    assert [row["n"] for row in app.rows("out")] == [2]


def test_an_edit_that_the_state_refuses_is_refused_at_the_restart(streamapp: Start) -> None:
    app = streamapp(counting())
    app.send("events", {"user": "ann"}, at="2026-01-01T12:00:01")
    edited = counting()
    edited["spec"]["operators"][0]["aggregate"]["aggregates"] = "max(ts) AS n"
    with pytest.raises(AppRefusedError):
        app.restart(edited)


def test_a_batch_that_is_killed_before_it_commits_is_done_again_once(streamapp: Start) -> None:
    app = streamapp(EXAMPLE)
    app.send("users", ANN)
    app.kill(before_commit=True)
    app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
    assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]


@pytest.mark.parametrize("meanwhile", [lambda app: app.grow("views", 4), lambda app: app.restart()])
def test_a_kill_before_a_commit_is_that_of_the_next_batch_whatever_comes_before(
    streamapp: Start, meanwhile: Callable[[TestApp], None]
) -> None:
    app = streamapp(EXAMPLE, partitions={"views": 2, "users": 2})
    app.send("users", ANN)
    app.kill(before_commit=True)
    meanwhile(app)
    app.send("views", {"user": "ann", "page": "/"}, at="2026-01-01T12:00")
    assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]


def test_totals_stay_with_their_keys_when_a_stream_grows(streamapp: Start) -> None:
    totals = {"from": "events", "aggregates": "count(*) AS n, max(v) AS most"}
    app = streamapp(
        resource(
            {"name": "counted", "aggregate": totals},
            {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
            streams=[
                {"name": "events", "key": "user", "columns": "user STRING, v INT"},
                {"name": "out", "key": "user"},
            ],
        ),
        partitions=2,
    )
    users = [f"u{number}" for number in range(20)]
    app.send("events", [{"user": user, "v": 1} for user in users])
    app.grow("events", 8)
    app.send("events", [{"user": user, "v": 2} for user in users])
    newest = {row["user"]: (row["n"], row["most"]) for row in app.rows("out") if row["n"] == 2}
    assert newest == dict.fromkeys(users, (2, 2))
    assert {row["key"] for row in app.state("counted")} == set(users)


@pytest.mark.parametrize("processors", [1, 2])
@pytest.mark.parametrize("store", ["rocksdb", "lmdb", "memory"])
def test_a_row_sees_a_broadcast_table_as_it_was_sent_before(
    streamapp: Start, store: str, processors: int
) -> None:
    table = {"name": "rates", "store": store, "broadcast": True, "sideInputs": [{"stream": "rates"}]}
    priced = {"from": "orders", "table": "rates", "key": "currency", "select": "id, rate"}
    streams = [
        {"name": "orders", "key": "id", "columns": "id STRING, currency STRING"},
        {"name": "rates", "key": "currency", "columns": "currency STRING, rate INT"},
        {"name": "out", "key": "id"},
    ]
    operators = [
        {"name": "priced", "joinTable": priced},
        {"name": "sent", "sendTo": {"from": "priced", "stream": "out"}},
    ]
    app = streamapp(
        resource(*operators, streams=streams, tables=[table]), partitions=2, processors=processors
    )
    for rate in (1, 2):
        app.send("rates", {"currency": "EUR", "rate": rate})
        assert app.table("rates") == {"EUR": {"currency": "EUR", "rate": rate}}
        app.send("orders", [{"id": name, "currency": "EUR"} for name in "abcd"])
    assert sorted(row["rate"] for row in app.rows("out")) == [1] * 4 + [2] * 4


def test_a_tombstone_takes_a_row_out_of_a_table(streamapp: Start) -> None:
    app = streamapp(EXAMPLE)
    app.send("users", [ANN, ANN | {"user": "bob"}])
    app.delete("users", "ann")
    assert list(app.table("users")) == ["bob"]
    app.send("users", ANN | {"user": "7"})
    app.delete("users", 7)
    assert list(app.table("users")) == ["bob"]
    with pytest.raises(WrongUseError, match=r"^1\.5 is no key; give a text"):
        app.delete("users", 1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("store", ["memory", "lmdb", "rocksdb"])
def test_a_table_is_read_from_each_store(streamapp: Start, store: str) -> None:
    app = App("tables")
    main = app.kafka("main", bootstrap_servers="nowhere:9092")
    main.stream("users", key="user", columns="user STRING, country STRING")
    views = main.stream("views", key="user", columns="user STRING, page STRING")
    table = app.table("users", store=store, side_inputs=[SideInput(stream="users")])  # type: ignore[arg-type]
    views.join_table("joined", table, select="page, country").send_to("sent", main.stream("out"))
    kit = streamapp(app, partitions={"users": 3, "views": 3})
    kit.send("users", [{"user": name, "country": "NO"} for name in ("ann", "bob", "cid")])
    assert sorted(kit.table("users")) == ["ann", "bob", "cid"]


def test_a_batch_app_runs_turn_by_turn(streamapp: Start) -> None:
    app = streamapp(counting(mode="batch"))
    app.send("events", [{"user": "ann"}, {"user": "ann"}], at="2026-01-01T12:00:01")
    assert app.rows("out") == []
    app.run_turn()
    assert [row["n"] for row in app.rows("out")] == [2]


def test_wrong_use_says_what_there_is(streamapp: Start) -> None:
    app = streamapp(EXAMPLE)
    with pytest.raises(WrongUseError, match='no stream "view"; did you mean "views"'):
        app.send("view", {})
    with pytest.raises(WrongUseError, match='row 1: "views" has no column "pages"; did you mean "page"'):
        app.send("views", [{"page": "/"}, {"pages": "/"}])
    with pytest.raises(WrongUseError, match="row 0: tier of \"users\" is INT, and 'high' is none"):
        app.send("users", {"user": "ann", "tier": "high"})
    with pytest.raises(WrongUseError, match="a row is a dict"):
        app.send("users", ["ann"])  # type: ignore[list-item]
    app.advance(to="2026-01-01T12:00")
    with pytest.raises(WrongUseError, match="is earlier"):
        app.send("views", {"user": "ann"}, at="2026-01-01T11:00")
    with pytest.raises(WrongUseError, match="no duration"):
        app.advance(by="soon")
    with pytest.raises(WrongUseError, match="is no time"):
        app.advance(to="noon")
    with pytest.raises(WrongUseError, match='no table "user"; did you mean "users"'):
        app.table("user")
    with pytest.raises(WrongUseError, match="can only have more"):
        app.grow("views", 1)


def test_an_app_that_cannot_run_is_refused_with_every_problem() -> None:
    with pytest.raises(AppRefusedError, match="pag"):
        TestApp(filtered("pag = '/'"))
    with pytest.raises(AppRefusedError, match="there is no file"):
        TestApp("nowhere.yaml")


def test_counts_that_cannot_be_joined_are_refused() -> None:
    with pytest.raises(AppRefusedError, match="needs streams of one partition count"):
        made = EXAMPLE.read_text().replace("key: user}}", "key: user, partitions: 3}}")
        TestApp(made, partitions={"views": 8, "users": 4})


def test_rows_of_an_operator_are_seen_where_it_is_observed(streamapp: Start) -> None:
    app = streamapp(EXAMPLE, observed=["real", "by-user"])
    app.send("views", [{"user": "ann", "page": "/"}, {"user": "ann", "page": "/health"}], at="2026-01-01")
    assert [row["page"] for row in app.rows("real")] == ["/"]
    assert [row["user"] for row in app.rows("by-user")] == ["ann"]
    assert app.streams == ("views", "users", "enriched", "real", "by-user")
    assert {name: app.size(name) for name in app.streams} == {
        "views": 2,
        "users": 0,
        "enriched": 0,
        "real": 1,
        "by-user": 1,
    }


def test_an_operator_that_hands_on_no_rows_cannot_be_observed() -> None:
    with pytest.raises(WrongUseError, match='no operator "out" hands on rows; there are "real"'):
        TestApp(EXAMPLE, observed=["out"])


def test_records_of_several_streams_are_sent_together(streamapp: Start) -> None:
    app = streamapp(EXAMPLE)
    at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    views = app.encoded("views", [{"user": "ann", "page": "/", "ts": at}])
    app.send_records({"views": views, "users": app.encoded("users", [ANN])})
    assert app.rows("enriched") == [{"user": "ann", "page": "/", "country": "NO"}]
    assert app.now == at.timestamp() * 1000


def test_a_folder_that_is_named_stays_with_what_was_written(streamapp: Start, tmp_path: Path) -> None:
    app = streamapp(EXAMPLE, folder=tmp_path)
    app.send("users", ANN)
    app.close()
    assert list(tmp_path.iterdir())

"""Queries of the state of a running app give what its changelogs say as of the last batch."""

from dataclasses import replace
from itertools import accumulate

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.state_queries.key_owners import tasks_with_keys
from streamapp_runtime.driver.state_queries.open_snapshots import (
    IDLE_SECONDS,
    MOST_SNAPSHOTS,
    OpenSnapshots,
    SnapshotEndedError,
    TooManySnapshotsError,
)
from streamapp_runtime.driver.state_queries.state_lookup_request import QueryRefusedError, StateLookup
from streamapp_runtime.driver.state_queries.state_queries import StateUnavailableError, UnknownTableError
from tests.harness.machine.processes import until
from tests.harness.runs.app_runs import AppEnv, Input, app, inputs
from tests.harness.runs.asked_state import (
    asked,
    begun_snapshot,
    committed,
    counts_while_at_work,
    in_order,
    pages_of_snapshot,
    scanned,
)
from tests.harness.runs.drained_loop import drain
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import ON_SPARK, ON_SPARK_AND_KAFKA
from tests.harness.runs.timed_streams import NOW
from tests.harness.user_code.graph_code import Counting

START = 1_767_225_600_000
PARTITIONS = 4
TIMED = {"column": "at", "unit": "milliseconds"}
EVENTS = {
    "name": "events",
    "key": "user",
    "columns": "user STRING, page STRING, n INT, at BIGINT",
    "eventTime": TIMED,
}
CLICKS = {"name": "clicks", "key": "user", "columns": "user STRING, m DOUBLE, at BIGINT", "eventTime": TIMED}
PEOPLE = {"name": "people", "key": "user", "columns": "user STRING, age INT"}
PAGES = {"name": "pages", "key": "page", "columns": "page STRING, title STRING"}
WITH_CHANGELOG = {"totals", "by-page", "minutes", "visits", "pairs", "counted", "last", "quick"}
PLACED_BY_KEY = {"totals", "minutes", "visits", "ages"}


def keeping_all() -> StreamApp:
    """Every kind of state, over four tasks."""
    kept = [
        {"name": "totals", "aggregate": {"from": "events", "aggregates": "sum(n) AS total"}},
        {
            "name": "by-page",
            "aggregate": {"from": "events", "key": "user, page", "aggregates": "count(*) AS rows"},
        },
        {
            "name": "minutes",
            "aggregate": {
                "from": "events",
                "aggregates": "count(*) AS rows",
                "window": {"tumbling": {"size": "1m"}},
                "allowedLateness": "1h",
            },
        },
        {
            "name": "visits",
            "aggregate": {
                "from": "events",
                "aggregates": "max(n) AS most",
                "window": {"session": {"gap": "10s"}},
                "allowedLateness": "1h",
            },
        },
        {
            "name": "pairs",
            "join": {
                "from": ["events", "clicks"],
                "within": "1h",
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
        {"name": "aged", "joinTable": {"from": "events", "table": "ages", "select": "user, age"}},
        {
            "name": "titled",
            "joinTable": {"from": "events", "table": "titles", "key": "page", "select": "user, title"},
        },
    ]
    sent = [
        {"name": f"{each['name']}-out", "sendTo": {"from": each["name"], "stream": "out"}} for each in kept
    ]
    puts = [
        {"name": "put", "sendToTable": {"from": "events", "table": "last"}},
        {"name": "put-quick", "sendToTable": {"from": "events", "table": "quick"}},
    ]
    columns = "user STRING, page STRING, n INT, at BIGINT"
    tables = [
        {"name": "last", "columns": columns},
        {"name": "quick", "columns": columns, "store": "memory"},
        {"name": "ages", "columns": "user STRING, age INT", "sideInputs": [{"stream": "people"}]},
        {
            "name": "titles",
            "columns": "page STRING, title STRING",
            "broadcast": True,
            "sideInputs": [{"stream": "pages", "bootstrap": True}],
        },
    ]
    streams = [EVENTS, CLICKS, PEOPLE, PAGES, {"name": "out"}]
    return app(*kept, *sent, *puts, streams=streams, tables=tables, config=NOW)


def write_rows(env: AppEnv, first: int, last: int) -> None:
    events = [
        {"user": f"u{n % 13}", "page": f"/{n % 3}", "n": n, "at": START + 7_000 * (n % 40)}
        for n in range(first, last)
    ]
    env.write("events", [Input(row["user"], row, row["at"]) for row in events], PARTITIONS)
    clicks = [{"user": row["user"], "m": row["n"] / 2, "at": row["at"]} for row in events[::3]]
    env.write("clicks", [Input(row["user"], row, row["at"]) for row in clicks], PARTITIONS)


@pytest.fixture
def run(env: AppEnv) -> Run:
    """An app with some rows of each kind, at rest."""
    env.write("people", inputs([{"user": f"u{n}", "age": n} for n in range(30)], "user"), PARTITIONS)
    env.write("pages", inputs([{"page": f"/{n}", "title": f"T{n}"} for n in range(3)], "page"), 1)
    write_rows(env, 0, 120)
    begun = Run.start(env, keeping_all())
    drain(begun.loop)
    return begun


@ON_SPARK_AND_KAFKA
def test_what_is_scanned_is_what_the_changelogs_hold(env: AppEnv, run: Run) -> None:
    assert run.loop.queries.tables.keys() == WITH_CHANGELOG | {"ages", "titles"}
    for last in (120, 200):
        for table in WITH_CHANGELOG:
            rows = committed(run.loop, table)
            assert rows, table
            for limit in (1_000, 3):
                assert in_order(scanned(run.loop, table, limit)) == in_order(rows), (table, limit)
        write_rows(env, last, last + 80)
        drain(run.loop)


@ON_SPARK_AND_KAFKA
def test_a_snapshot_stays_as_it_was_while_the_app_goes_on(env: AppEnv, run: Run) -> None:
    for number, table in enumerate(sorted(run.loop.queries.tables)):
        wanted, pages, rows = begun_snapshot(run.loop, table)
        write_rows(env, 100 + 40 * number, 140 + 40 * number)
        env.write("people", inputs([{"user": f"u{n}", "age": number} for n in range(40)], "user"), PARTITIONS)
        env.write("pages", inputs([{"page": f"/{n}", "title": table} for n in range(9)], "page"), 1)
        drain(run.loop)
        for page in pages:
            rows += page
        assert in_order(rows) == wanted, table
        assert len(rows) > 2
        if table != "pairs":  # its rows of before are all there still
            # A broadcast table shows versions of itself, and the next one may be due a moment later.
            until(
                lambda table=table, wanted=wanted: in_order(scanned(run.loop, table, 1_000)) != wanted, 30.0
            )
    assert run.loop.queries.orders({}, together=True).snapshots == ()


def test_a_page_of_a_scan_is_whole_though_one_task_has_most_of_its_keys(env: AppEnv, run: Run) -> None:
    names = [f"v{number:03}" for number in range(400)]
    task = min(tasks_with_keys(run.loop.launch, "ages", (names[0].encode(),)))
    own = [name for name in names if tasks_with_keys(run.loop.launch, "ages", (name.encode(),)) == {task}]
    env.write("people", inputs([{"user": name, "age": 1} for name in own], "user"), PARTITIONS)
    drain(run.loop)
    lookup = StateLookup("ages", prefix=b"v", limit=60)
    assert len(own) > lookup.limit > lookup.share(PARTITIONS)
    result = asked(run.loop, lookup)
    assert [row["key"] for row in result.rows] == own[:60]
    assert result.last is not None
    page = asked(run.loop, replace(lookup, snapshot="of one task", begins=True))
    assert [row["key"] for row in page.rows] == own[: lookup.share(PARTITIONS)]


def test_a_task_of_many_gives_little_more_than_its_share_of_a_page() -> None:
    lookup = StateLookup("totals", limit=1_000)
    assert [lookup.share(tasks) for tasks in (1, 2, 10, 1_000)] == [1_000, 1_000, 208, 10]
    assert replace(lookup, whole=True).share(1_000) == 1_000


@ON_SPARK
def test_a_snapshot_is_gone_once_another_model_runs_or_the_state_moves(env: AppEnv, run: Run) -> None:
    begun = pages_of_snapshot(run.loop, "totals", 2)
    next(begun)
    run.loop.release()  # as for an edit: another process may have the stores next
    with pytest.raises(SnapshotEndedError, match="its task has moved"):
        next(begun)
    begun = pages_of_snapshot(run.loop, "totals", 2)
    next(begun)
    run.loop.queries.begin(run.loop.launch)
    with pytest.raises(SnapshotEndedError, match="is of another driver or job model"):
        next(begun)
    assert len(scanned(run.loop, "totals", 1_000)) == 13


def test_a_snapshot_that_nobody_reads_is_let_go_and_not_too_many_are_open() -> None:
    now = [0.0]
    snapshots = OpenSnapshots(lambda: now[0])
    for number in range(MOST_SNAPSHOTS):
        assert snapshots.number(StateLookup("totals", snapshot=str(number), begins=True)) == number + 1
    with pytest.raises(TooManySnapshotsError):
        snapshots.number(StateLookup("totals", snapshot="more", begins=True))
    with pytest.raises(QueryRefusedError, match="another table or prefix"):
        snapshots.number(StateLookup("others", snapshot="0"))
    now[0] = IDLE_SECONDS
    assert snapshots.number(StateLookup("totals", snapshot="3")) == 4
    now[0] += 1
    assert snapshots.numbers() == (4,)
    with pytest.raises(SnapshotEndedError, match="was not read for 30 s"):
        snapshots.number(StateLookup("totals", snapshot="0"))


def test_each_key_has_its_rows_and_the_rule_of_tasks_says_where(run: Run) -> None:
    for table in sorted(WITH_CHANGELOG - {"pairs"}):
        rows = committed(run.loop, table)
        for key in {row["key"] for row in rows}:
            lookup = StateLookup(table, keys=(key.encode(),))
            wanted = [row for row in rows if row["key"] == key]
            assert in_order(list(asked(run.loop, lookup).rows)) == in_order(wanted), (table, key)
            owners = tasks_with_keys(run.loop.launch, table, (key.encode(),))
            assert {row["task"] for row in wanted} <= owners
            assert len(owners) == (1 if table in PLACED_BY_KEY else PARTITIONS), table


def test_several_keys_are_asked_for_at_once(run: Run) -> None:
    lookup = StateLookup("totals", keys=(b"u3", b"nobody", b"u1", b"u2"))
    assert [row["key"] for row in asked(run.loop, lookup).rows] == ["u1", "u2", "u3"]


def test_rows_of_side_inputs_are_there_too(run: Run) -> None:
    (row,) = asked(run.loop, StateLookup("ages", keys=(b"u7",))).rows
    assert row["row"] == {"user": "u7", "age": 7}
    assert len(scanned(run.loop, "ages", 4)) == 30
    titles = scanned(run.loop, "titles", 2)
    assert [(row["key"], row["row"]["title"]) for row in titles] == [(f"/{n}", f"T{n}") for n in range(3)]


def test_a_prefix_selects_keys(run: Run) -> None:
    for table in ("totals", "last", "visits", "ages"):
        every = {row["key"] for row in scanned(run.loop, table, 5)}
        selected = {row["key"] for row in scanned(run.loop, table, 2, prefix=b"u1")}
        assert selected == {key for key in every if key.startswith("u1")}
        assert len(selected) < len(every)
    assert scanned(run.loop, "totals", 5, prefix=b"\xff") == []


def test_entries_that_are_kept_by_time_are_not_asked_for_what_they_cannot_answer(run: Run) -> None:
    with pytest.raises(QueryRefusedError, match="cannot be looked up by key; scan them"):
        run.loop.queries.ask(StateLookup("pairs", keys=(b"u1",)))
    with pytest.raises(QueryRefusedError, match="scan them without a prefix"):
        run.loop.queries.ask(StateLookup("minutes", prefix=b"u"))


def test_an_unknown_table_is_refused(run: Run) -> None:
    with pytest.raises(UnknownTableError):
        run.loop.queries.ask(StateLookup("total"))


def test_a_query_that_no_batch_answers_ends(run: Run) -> None:
    run.loop.queries.seconds = 0.05
    with pytest.raises(StateUnavailableError, match="no batch has answered"):
        run.loop.queries.ask(StateLookup("totals"))
    run.loop.queries.end()
    with pytest.raises(StateUnavailableError, match="the run is over"):
        run.loop.queries.ask(StateLookup("totals"))


@ON_SPARK
def test_state_behind_a_layer_of_spark_is_asked_for_as_well(env: AppEnv) -> None:
    made = app(
        {"name": "first", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
        {"name": "upper", "map": {"from": "events", "select": "user, soundex(user) AS back, n"}},
        {"name": "put", "sendToTable": {"from": "upper", "table": "backs"}},
        {"name": "sent", "sendTo": {"from": "first", "stream": "out"}},
        streams=[EVENTS, {"name": "out"}],
        tables=[{"name": "backs", "columns": "user STRING, back STRING, n INT"}],
    )
    write_rows(env, 0, 40)
    run = Run.start(env, made)
    drain(run.loop)
    for table in ("first", "backs"):
        assert in_order(scanned(run.loop, table, 5)) == in_order(committed(run.loop, table))
        wanted = in_order(committed(run.loop, table))
        pages = pages_of_snapshot(run.loop, table, 2)
        rows = next(pages)
        write_rows(env, 40, 80)
        drain(run.loop)
        assert in_order(rows + [row for page in pages for row in page]) == wanted


@pytest.mark.parametrize("page", [0, 3], ids=["scan", "snapshot"])
def test_scans_of_an_app_at_work_are_of_one_batch(env: AppEnv, page: int) -> None:
    made = app(
        {"name": "counted", "aggregate": {"from": "events", "aggregates": "count(*) AS rows"}},
        {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}},
        streams=[EVENTS, {"name": "out", "key": "user"}],
    )
    write_rows(env, 0, 1_500)
    counts, batches = counts_while_at_work(Run.start(env, made, rows=23).loop, "counted", page)
    assert len(set(counts)) > 1, "it was not at work"
    assert set(counts) <= set(accumulate(batch.rows_in for batch in batches)) | {0}

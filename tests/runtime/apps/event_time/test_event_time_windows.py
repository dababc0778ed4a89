"""Windows of event time in apps: from the columns of a source to rows in the output."""

from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, inputs, sent

OUT = {"name": "out", "key": "user"}


def windows(env: AppEnv) -> list[tuple[str, str, int]]:
    return [(row["user"], row["window_start"][17:19], row["rows"]) for row in env.rows("out")]


def test_a_window_goes_out_once_when_the_watermark_has_passed_it(env: AppEnv) -> None:
    made = app(counting("events"), sent("counted"), streams=[events("5s"), OUT], config=NOW)
    env.write("events", inputs([at(1), at(3), at(8), at(12)]), partitions=1)
    env.run(made)
    assert env.records("out") == []
    env.write("events", inputs([at(9), at(15)]), partitions=1)
    env.run(made)
    assert windows(env) == [("ann", "00", 4)]


@ON_BOTH
def test_watermarks_go_through_a_repartition(env: AppEnv) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        config=NOW,
    )
    env.write("events", inputs([at(n, f"u{n % 7}", f"/{n % 3}") for n in range(30)]), partitions=2)
    env.run(made, rows=7)
    found = {(row["page"], row["window_start"][17:19]): row["rows"] for row in env.rows("out")}
    assert found == {("/0", "00"): 4, ("/1", "00"): 3, ("/2", "00"): 3} | {
        ("/0", "10"): 3, ("/1", "10"): 4, ("/2", "10"): 3
    }  # fmt: skip


def test_a_batch_app_puts_out_every_window_and_comes_to_its_end(env: AppEnv) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        mode="batch",
    )
    env.write("events", inputs([at(n, f"u{n % 4}", f"/{n % 3}") for n in range(30)]), partitions=2)
    env.run_to_end(made)
    assert sum(row["rows"] for row in env.rows("out")) == 30


def test_a_window_meets_a_row_in_the_batch_in_which_another_row_goes_out_alone(env: AppEnv) -> None:
    """Behind a window a join takes rows and ends in one step: what it makes of both goes out."""
    select = "left.rows AS rows, right.n AS n"
    joined = {"from": ["counted", "events"], "within": "1500ms", "type": "right", "select": select}
    made = app(
        counting("events"),
        {"name": "joined", "join": joined},
        sent("joined"),
        streams=[events(), {"name": "out"}],
        config=NOW,
    )
    for second in (1, 11):
        env.write("events", inputs([at(second, n=second)]), partitions=1)
        env.run(made)
    rows = sorted((row["n"], row["rows"]) for row in env.rows("out"))
    assert rows == [(1, None), (11, 1)]


def test_a_silent_partition_is_left_out_by_a_batch_that_no_record_asked_for(env: AppEnv) -> None:
    streams = [events(idleTimeout="10s"), OUT]
    made = app(counting("events"), sent("counted"), streams=streams, config=NOW, grouper="single")
    env.write("events", inputs([at(1), at(12)]), partitions=2)
    _, ready = env.launched(made)
    keeping = ready.setup.time
    assert keeping is not None
    now = [keeping.since]
    loop = env.loop(CurrentRun.of(ready, batch_rows=1_000), clock=lambda: now[0])
    loop.start()
    while loop.planner.behind:
        loop.step()
    now[0] += 5_000  # the other one speaks once more, and is not silent when this one has been for so long
    env.write("events", inputs([at(13)]), partitions=2)
    assert loop.step() is not None
    assert loop.step() is None
    assert env.records("out") == []
    now[0] += 5_000
    batch = loop.step()
    assert batch is not None
    assert (batch.rows_in, windows(env)) == (0, [("ann", "00", 1)])
    assert loop.step() is None
    loop.release()


@ON_BOTH
def test_late_rows_are_left_out_and_counted(env: AppEnv) -> None:
    made = app(counting("events"), sent("counted"), streams=[events(), OUT], config=NOW)
    env.write("events", inputs([at(1), at(12)]), partitions=1)
    env.run(made)
    env.write("events", inputs([at(2), at(3), at(21)]), partitions=1)
    assert sum(batch.late for batch in env.run(made)) == 2
    assert windows(env) == [("ann", "00", 1), ("ann", "10", 1)]

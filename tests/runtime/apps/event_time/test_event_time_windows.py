"""Windows of event time in apps: from the columns of a source to rows in the output."""

from streamapp_runtime.driver.batches.loop import Loop
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from tests.harness.runs.app_runs import House, app
from tests.harness.runs.run_systems import ON_BOTH
from tests.harness.runs.timed_streams import NOW, at, counting, events, sent, told

OUT = {"name": "out", "key": "user"}


def windows(here: House) -> list[tuple[str, str, int]]:
    return [(row["user"], row["window_start"][17:19], row["rows"]) for row in here.rows("out")]


def test_a_window_goes_out_once_when_the_watermark_has_passed_it(here: House) -> None:
    made = app(counting("events"), sent("counted"), streams=[events("5s"), OUT], config=NOW)
    here.write("events", told([at(1), at(3), at(8), at(12)]), partitions=1)
    here.run(made)
    assert here.records("out") == []
    here.write("events", told([at(9), at(15)]), partitions=1)
    here.run(made)
    assert windows(here) == [("ann", "00", 4)]


@ON_BOTH
def test_watermarks_go_through_a_repartition(here: House) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        config=NOW,
    )
    here.write("events", told([at(n, f"u{n % 7}", f"/{n % 3}") for n in range(30)]), partitions=2)
    here.run(made, rows=7)
    found = {(row["page"], row["window_start"][17:19]): row["rows"] for row in here.rows("out")}
    assert found == {("/0", "00"): 4, ("/1", "00"): 3, ("/2", "00"): 3} | {
        ("/0", "10"): 3, ("/1", "10"): 4, ("/2", "10"): 3
    }  # fmt: skip


def test_a_batch_app_puts_out_every_window_and_comes_to_its_end(here: House) -> None:
    made = app(
        {"name": "by-page", "partitionBy": {"from": "events", "key": "page", "partitions": 3}},
        counting("by-page", key="page"),
        sent("counted"),
        streams=[events(), {"name": "out", "key": "page"}],
        mode="batch",
    )
    here.write("events", told([at(n, f"u{n % 4}", f"/{n % 3}") for n in range(30)]), partitions=2)
    here.run_to_end(made)
    assert sum(row["rows"] for row in here.rows("out")) == 30


def test_a_silent_partition_is_left_out_by_a_batch_that_no_record_asked_for(here: House) -> None:
    streams = [events(idleTimeout="10s"), OUT]
    made = app(counting("events"), sent("counted"), streams=streams, config=NOW, grouper="single")
    here.write("events", told([at(1), at(12)]), partitions=2)
    _, ready = here.launched(made)
    keeping = ready.setup.time
    assert keeping is not None
    now = [keeping.since]
    loop = Loop(here.session, CurrentRun.of(ready, batch_rows=1_000), clock=lambda: now[0])
    loop.start()
    while loop.behind:
        loop.step()
    now[0] += 5_000  # the other one speaks once more, and is not silent when this one has been for so long
    here.write("events", told([at(13)]), partitions=2)
    assert loop.step() is not None
    assert loop.step() is None
    assert here.records("out") == []
    now[0] += 5_000
    batch = loop.step()
    assert batch is not None
    assert (batch.rows_in, windows(here)) == (0, [("ann", "00", 1)])
    assert loop.step() is None
    loop.release()


@ON_BOTH
def test_late_rows_are_left_out_and_counted(here: House) -> None:
    made = app(counting("events"), sent("counted"), streams=[events(), OUT], config=NOW)
    here.write("events", told([at(1), at(12)]), partitions=1)
    here.run(made)
    here.write("events", told([at(2), at(3), at(21)]), partitions=1)
    assert sum(batch.late for batch in here.run(made)) == 2
    assert windows(here) == [("ann", "00", 1), ("ann", "10", 1)]

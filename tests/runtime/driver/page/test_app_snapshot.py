"""What a page shows of a moment, as far as the driver knows it."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from streamapp.graph.nodes import TableNode
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.checkpoints.outbox_delivery import DeliveryStatus
from streamapp_runtime.driver.inputs.open_transactions import OpenTransaction
from streamapp_runtime.driver.inputs.unread_partitions import UnreadPartition
from streamapp_runtime.driver.page.app_snapshot import app_snapshot
from streamapp_runtime.driver.page.run_facts import RunFacts
from streamapp_runtime.lanes.event_time.reached_watermarks import ReachedWatermarks
from streamapp_runtime.lanes.protocol.rejections import RejectionSample
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.operators.state.event_clock import WatermarkReach
from tests.harness.engine.batch_results import batch, reached
from tests.harness.engine.watched_pages import (
    BEGAN,
    WatchedRun,
    reports,
    running,
    slow_run,
    two_merged_streams,
)
from tests.harness.graphs.graph_drawing import drawn, join_table, maps, merge, reads, repartition, sends
from tests.harness.graphs.shop_apps import shop

_HELD_BACK = WatermarkReach({"views": 5_000, "orders": 0}, timed=True)


def shown(run: WatchedRun) -> dict[str, Any]:
    """As it arrives in a browser."""
    snapshot: dict[str, Any] = json.loads(json.dumps(app_snapshot(run.recorder.facts()), allow_nan=False))
    return snapshot


def waits(snapshot: dict[str, Any]) -> list[str]:
    """The sentences of what it waits for."""
    return [wait["text"] for wait in snapshot["waits"]]


def named(rows: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (row,) = [row for row in rows if row["name"] == name]
    return row


def test_before_there_is_a_model_the_page_says_that_the_driver_starts() -> None:
    snapshot = shown(WatchedRun())
    assert (snapshot["state"], snapshot["streams"], snapshot["processors"]) == ("starting", [], [])
    assert snapshot["activity"] == "starts"


def test_deliveries_are_those_of_systems_and_only_one_that_is_hindered_is_waited_for() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    assert shown(run)["deliveries"] == []
    users, views = (DeliveryStatus("lake", waiting=1, delivered=n, commits=1) for n in (3, 4))
    run.recorder.deliveries_progressed(
        (users, views, DeliveryStatus("shop", 9, trouble="no answer", failures=2))
    )
    snapshot = shown(run)
    assert snapshot["deliveries"] == [
        {"system": "lake", "records": 7, "waiting": 2, "commits": 2, "failures": 0},
        {"system": "shop", "records": 0, "waiting": 9, "commits": 0, "failures": 2},
    ]
    assert waits(snapshot) == ["9 records for shop wait in the outbox: no answer"]


def test_rates_and_lag_are_those_of_streams() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    counted = [("rowsOut", "enriched", 40)]
    run.batches(batch(given={"views": 100}, lags={"views": 7}, counted=counted), count=20)
    streams = shown(run)["streams"]
    views, enriched = named(streams, "views"), named(streams, "enriched")
    assert (views["inPerSecond"], views["outPerSecond"], views["lag"]) == (50, None, 7)
    assert (enriched["inPerSecond"], enriched["outPerSecond"]) == (None, 20)


def test_an_operator_is_as_late_as_the_latest_stream_before_it_in_its_task() -> None:
    graph = drawn(
        reads("views"),
        reads("orders"),
        maps("seen", "views"),
        merge("both", "seen", "orders"),
        repartition("by-user", "both"),
        maps("later", "by-user"),
        sends("out", "later", "enriched"),
    )
    run = WatchedRun()
    run.recorder.runs(running(graph))
    at = int(BEGAN * 1000)
    run.batches(batch(watermarks={"views": at - 9_000, "orders": at - 1_000, "by-user'": at}), count=1)
    operators = shown(run)["operators"]
    behind = {row["name"]: row["behind"] for row in operators}
    assert behind == {"seen": 11, "both": 11, "by-user": 11, "later": 2, "out": 2}
    assert named(operators, "both")["watermark"] == BEGAN - 9


def test_a_task_without_a_watermark_holds_back_the_stream_and_what_its_rows_reach() -> None:
    run = WatchedRun()
    run.recorder.runs(replace(running(two_merged_streams()), reaches={"both": _HELD_BACK}))
    at = int(BEGAN * 1000)
    for other, watermarks in [(None, (None, at / 1000, None)), (at + 1, (at / 1000,) * 2 + (at / 1000 - 5,))]:
        tasks = {"Partition 0": {"views": at, "orders": at}, "Partition 1": {"views": other, "orders": at}}
        run.batches(replace(batch(), reached=ReachedWatermarks(tasks)), count=1)
        snapshot = shown(run)
        views, orders = (named(snapshot["streams"], name) for name in ("views", "orders"))
        rows = (views, orders, named(snapshot["operators"], "both"))
        assert tuple(row["watermark"] for row in rows) == watermarks


def test_a_stream_that_holds_back_a_watermark_is_named_with_since_when() -> None:
    run = WatchedRun()
    app = running(two_merged_streams())
    run.recorder.runs(app)
    at = int(BEGAN * 1000)
    near = batch(watermarks={"views": at - 59_000, "orders": at})
    run.batches(replace(near, reports=reports(app)), count=1)
    assert waits(shown(run)) == []
    far = batch(watermarks={"views": at - 720_000, "orders": at})
    run.batches(replace(far, reports=reports(app)), count=1)
    stands = datetime.fromtimestamp(BEGAN - 720, UTC).strftime("%Y-%m-%d %H:%M:%S")
    assert waits(shown(run)) == [
        f"views holds back the watermark of both, out: it is at {stands} UTC, 12 minutes behind orders;"
        " look for a partition of it without new records"
    ]
    for number in range(1, 3):  # the other goes on
        run.clock.seconds += 90
        on = {"views": at - 720_000, "orders": at + number * 90_000}
        run.recorder.batch_committed(replace(far, reached=reached(on)))
    (sentence,) = waits(shown(run))
    assert f"it is at {stands} UTC and has not moved for 3 minutes, 15 minutes behind orders;" in sentence
    run.recorder.batch_committed(replace(far, reached=reached({"views": at - 700_000, "orders": at})))
    assert "has not moved" not in waits(shown(run))[0]


def test_a_task_that_is_behind_alone_is_named_and_a_backlog_of_all_is_not() -> None:
    app = running(shop(3))
    names = [f"Partition {number}" for number in range(4)]
    for lags, is_named in [
        ((4_000, 1_000, 1_000, 1_000), True),
        ((3_990, 1_000, 1_000, 1_000), False),
        ((999, 0, 0, 0), False),
        ((1_000, 0, 0, 0), True),
    ]:
        run = WatchedRun()
        run.recorder.runs(app)
        behind = replace(batch(), reports=reports(app), task_lags=dict(zip(names, lags, strict=True)))
        run.batches(behind, count=1)
        snapshot = shown(run)
        assert [task["lag"] for task in snapshot["processors"][0]["tasks"]] == list(lags)
        assert bool(waits(snapshot)) == is_named
    assert waits(snapshot) == [
        "task Partition 0, one of 4, has 100 % of the records that are not yet read: more processors do not"
        f" help; look for a key that most records of {', '.join(app.partitions['Partition 0'])} have"
    ]


def test_a_backlog_that_is_read_in_seconds_is_no_matter() -> None:
    app = running(shop(3))
    run = WatchedRun()
    run.recorder.runs(app)
    first, *others = reports(app)
    read = replace(batch(), reports=(replace(first, rows_in=20_000), *others))
    run.batches(replace(read, task_lags={"Partition 0": 90_000}), count=5)
    snapshot = shown(run)
    tasks = snapshot["processors"][0]["tasks"]
    assert [task["inPerSecond"] for task in tasks] == [10_000, 0, 0, 0]
    assert waits(snapshot) == []
    run.batches(replace(read, task_lags={"Partition 0": 110_000}), count=1)
    assert len(waits(shown(run))) == 1


def test_rates_of_tasks_begin_again_with_a_model() -> None:
    app = running(shop(3))
    run = WatchedRun()
    run.recorder.runs(app)
    first, *others = reports(app)
    run.batches(replace(batch(), reports=(replace(first, rows_in=20_000), *others)), count=5)
    run.recorder.runs(app)
    (processor,) = shown(run)["processors"]
    assert {task["inPerSecond"] for task in processor["tasks"]} == {None}


def test_a_stream_without_event_times_has_no_watermark() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    run.batches(batch(), count=1)
    snapshot = shown(run)
    assert {row["behind"] for row in snapshot["streams"] + snapshot["operators"]} == {None}


def test_tasks_stand_on_their_processors_with_what_they_wait_for() -> None:
    app = running(shop(3), tasks=12, processors=11)
    run = WatchedRun()
    run.recorder.runs(app)
    first, restoring, away, bad, *others = reports(app)[:-1]  # the processor of the last one is missing
    changed = (
        first,
        replace(restoring, status=TaskStatus.RESTORING),
        replace(
            away, status=TaskStatus.WAITING, message='remote table "users" is unavailable: no answer for ann'
        ),
        replace(bad, status=TaskStatus.EXPRESSION, message="the value 'ann' is no number"),
    )
    run.recorder.batch_committed(replace(batch(), reports=(*changed, *others)))
    run.recorder.lacks(["processor-10"])
    snapshot = shown(run)
    assert [row["name"] for row in snapshot["processors"]] == [f"processor-{one}" for one in range(11)]
    assert [row["location"] for row in snapshot["processors"]][:3] == ["host-0", "host-0", "host-1"]
    assert [task["name"] for task in snapshot["processors"][0]["tasks"]] == ["Partition 0", "Partition 11"]
    tasks = {task["name"]: task for row in snapshot["processors"] for task in row["tasks"]}
    states = {name: task["state"] for name, task in tasks.items() if task["state"] != "working"}
    restoring_task, waiting_tasks = restoring.task, {away.task, bad.task, "Partition 10"}
    assert states == {restoring_task: "restoring"} | dict.fromkeys(waiting_tasks, "waiting")
    assert tasks["Partition 10"]["why"] == "its processor is missing"
    assert tasks[away.task]["why"] == 'waiting: remote table "users" is unavailable'
    assert "ann" not in json.dumps(snapshot)
    assert snapshot["state"] == "restoring"
    assert len(waits(snapshot)) == 4
    assert waits(snapshot)[-1] == "processor-10 is missing: 1 task waits for it"


def test_a_batch_of_some_lanes_alone_says_nothing_of_the_others() -> None:
    app = running(shop(3), tasks=4, processors=2)
    run = WatchedRun()
    run.recorder.runs(app)
    every = reports(app)
    run.recorder.batch_committed(replace(batch(), reports=every))
    run.recorder.batch_committed(replace(batch(2), reports=every[:2]))  # the other lane is at work
    snapshot = shown(run)
    assert waits(snapshot) == []
    assert {task["state"] for row in snapshot["processors"] for task in row["tasks"]} == {"working"}
    run.recorder.lacks(app.lanes)
    snapshot = shown(run)
    assert waits(snapshot) == ["processor-0, processor-1 are missing: 4 tasks wait for them"]
    assert snapshot["state"] == "waiting"
    assert {task["state"] for row in snapshot["processors"] for task in row["tasks"]} == {"waiting"}
    run.recorder.runs(app)
    (task, *_) = shown(run)["processors"][0]["tasks"]
    assert task["why"] == "not run by this model yet"


def test_reasons_are_shown_only_where_values_may_be() -> None:
    for show_values in (False, True):
        run = WatchedRun(show_values=show_values)
        run.recorder.runs(running(shop(3)))
        rejected = {("views", "cannot read 'ann'"): 2, ("views", "cannot read 'bob'"): 1}
        samples = tuple(
            RejectionSample("views", 2, offset, "cannot read 'ann'", None, "ann\n") for offset in range(25)
        )
        run.recorder.batch_committed(replace(batch(bad=3), rejected=rejected, samples=samples))
        run.recorder.batch_failed("code: KeyError: 'ann'")
        run.recorder.batch_failed("unavailable: broker-1 does not answer")
        snapshot = shown(run)
        assert sum(row["records"] for row in snapshot["leftOut"]) == snapshot["bad"] == 3
        assert len(snapshot["leftOut"]) == (2 if show_values else 1)
        places = [(row["stream"], row["partition"], row["offset"]) for row in snapshot["samples"]]
        assert places == [("views", 2, offset) for offset in range(24, 4, -1)]
        contents = {(row["key"], row["value"]) for row in snapshot["samples"]}
        assert contents == {("null", "ann\\n") if show_values else ("hidden", "hidden")}
        assert ("ann" in json.dumps(snapshot)) == show_values
        assert snapshot["notes"][0]["text"] == "unavailable: broker-1 does not answer"


def test_tables_have_their_sizes_and_remote_ones_what_was_asked() -> None:
    tables = (TableNode("users", side_inputs=("users",)), TableNode("prices", remote=True))
    graph = drawn(
        reads("views"),
        join_table("known", "views", "users"),
        join_table("priced", "known", "prices"),
        tables=tables,
        counts={"users": 8},
    )
    run = WatchedRun()
    run.recorder.runs(running(graph, sizes={"users": (10, 4096), "windows": (3, 512)}))
    counted = [
        ("remoteAsked", "prices", 5),
        ("remoteCached", "prices", 90),
        ("remoteUnanswered", "prices", 1),
    ]
    run.batches(batch(counted=counted), count=2)
    rows = {row["name"]: row for row in shown(run)["tables"]}
    assert (rows["users"]["kind"], rows["users"]["entries"], rows["users"]["bytes"]) == ("table", 10, 4096)
    assert (rows["windows"]["kind"], rows["windows"]["bytes"]) == ("state", 512)
    prices = rows["prices"]
    assert prices["kind"] == "remote table"
    assert (prices["asked"], prices["cached"], prices["unanswered"], prices["bytes"]) == (10, 180, 2, None)


def test_a_growth_is_under_way_until_it_has_settled() -> None:
    splits = (Split("views", 4, 8, BEGAN, offsets=(1, 2, 3, 4)), Split("views", 8, 16, BEGAN + 60))
    run = WatchedRun()
    run.recorder.runs(replace(running(shop(3)), splits=splits))
    assert [(row["after"], row["settled"]) for row in shown(run)["growths"]] == [(16, False), (8, True)]


def test_what_is_waited_for_outside_of_the_app_is_said() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3), tasks=1))
    run.recorder.batch_committed(batch())
    run.recorder.step_started("waits for the streams' system: broker-1 does not answer", 0)
    snapshot = shown(run)
    assert waits(snapshot) == ["waits for the streams' system: broker-1 does not answer"]
    assert snapshot["state"] == "waiting"
    run.recorder.step_started("waits for a remote table: prices has no ann", 0)
    assert waits(shown(run)) == ["waits for a remote table"]


def test_steps_of_a_batch_are_the_longest_of_any_lane() -> None:
    run = WatchedRun()
    lanes = [TaskReport("a", TaskStatus.COMMITTED, steps=(("read", 0.1), ("commit", 0.5)))]
    lanes += [TaskReport("b", TaskStatus.COMMITTED, steps=(("read", 0.3),))]
    run.recorder.batch_committed(replace(batch(), reports=tuple(lanes)))
    assert shown(run)["batches"][0]["steps"] == [["read", 0.3], ["commit", 0.5]]


def test_an_operator_has_its_share_of_the_time_of_recent_batches() -> None:
    run = slow_run(running(shop(3)), steps=(("read", 3.0), ("known", 9.0)))
    shares = {one["name"]: one["share"] for one in shown(run)["operators"]}
    assert shares.pop("known") == 0.75
    assert set(shares.values()) == {None}


def test_a_snapshot_changes_nothing() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(12), tasks=20, processors=3))
    run.batches(batch(given={"views": 10}), count=3)
    facts: RunFacts = run.recorder.facts()
    assert app_snapshot(facts) == app_snapshot(facts)
    assert run.recorder.facts() == facts


def test_a_transaction_that_stays_open_is_among_what_is_waited_for_until_it_ends() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    run.recorder.transactions_open((OpenTransaction(Partition("views", 3), 117),))
    (sentence,) = waits(shown(run))
    assert "views#3 from offset 117 on" in sentence
    run.recorder.transactions_open(())
    assert waits(shown(run)) == []


def test_a_partition_that_is_not_read_is_among_what_is_waited_for_until_it_is() -> None:
    run = WatchedRun()
    run.recorder.runs(running(shop(3)))
    run.recorder.partitions_unread((UnreadPartition("Partition 3", Partition("views", 3)),))
    (sentence,) = waits(shown(run))
    assert "nothing is known that holds them up: views#3" in sentence
    run.recorder.partitions_unread(())
    assert waits(shown(run)) == []

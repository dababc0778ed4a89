"""Partitions that have records, wait for nothing that is named, and are not read: they are named."""

from dataclasses import replace
from pathlib import Path

from streamapp.tasks.expansion.split_waits import SplitWait
from streamapp.tasks.layouts.split import Split
from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.partition_splits import endless_waits
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange, ReadOrder
from streamapp_runtime.driver.inputs.unread_partitions import (
    UNREAD_SECONDS,
    UnreadPartition,
    UnreadPartitionWatch,
    passed_over,
    unread_partitions_text,
)
from streamapp_runtime.driver.reporting.run_messages import unread_partitions_message
from tests.harness.engine.watched_pages import PageClock
from tests.harness.runs.app_runs import app, inputs, write_all
from tests.harness.runs.in_process_run import InProcessRun

ORDER = ReadOrder(["hop", "views"], side=frozenset({"users"}))
VIEWS = [Partition("views", index) for index in range(4)]


def pending(name: str, lag: int, task: str = "t0") -> PendingRange:
    return PendingRange(task, Partition.parse(name), 0, lag)


def names(readable: list[PendingRange], ranges: list[PendingRange], *filling: str) -> list[str]:
    return [str(one) for one in passed_over(readable, ranges, 100, ORDER, filling)]


def test_what_a_batch_does_not_read_is_passed_over() -> None:
    readable = [pending("views#0", 60), pending("views#1", 5)]
    assert names(readable, [pending("views#0", 60)]) == ["views#1"]
    assert names(readable, readable) == []


def test_records_behind_a_full_batch_of_the_apps_own_streams_wait_for_these() -> None:
    readable = [pending("hop#0", 500), pending("views#0", 5), pending("hop#1", 5)]
    assert names(readable, [pending("hop#0", 100)]) == ["hop#1"]
    assert names(readable, [pending("hop#0", 99)]) == ["views#0", "hop#1"]


def test_rows_wait_for_tables_that_fill_and_side_inputs_wait_for_nothing() -> None:
    readable = [pending("views#0", 5), pending("users#0", 5)]
    assert names(readable, [], "t0") == ["users#0"]
    assert names(readable, [], "t1") == ["views#0", "users#0"]


def test_a_partition_is_named_once_it_has_been_passed_over_for_a_minute_and_until_it_is_read() -> None:
    clock, changes = PageClock(), list[tuple[UnreadPartition, ...]]()
    watch = UnreadPartitionWatch(clock, changes.append)
    one, other = UnreadPartition("t0", VIEWS[0]), UnreadPartition("t1", VIEWS[1])
    watch.look([one, other])
    clock.seconds += UNREAD_SECONDS / 2
    watch.look([one])  # the other one is read
    watch.look([one, other])
    clock.seconds += UNREAD_SECONDS / 2
    watch.look([other], busy=["t0"])  # nothing is known of a busy task, and so it stays
    assert (watch.lasting, changes) == ((one,), [(one,)])
    watch.forget()
    watch.look([one, other])
    assert changes == [(one,), ()]


def test_a_wait_for_records_that_are_there_or_for_producers_to_settle_ends_by_itself() -> None:
    split = Split("views", 2, 4, seen_at=1_000.0)
    closed = {("t0", VIEWS[2]): (SplitWait(VIEWS[0], 50),), ("t1", VIEWS[3]): (SplitWait(VIEWS[1], None),)}

    def unended(now: float, *older: PendingRange) -> list[str]:
        return [str(one.partition) for one in endless_waits(closed, older, [split], now, 300.0)]

    assert unended(1_100.0, pending("views#0", 9)) == []
    assert unended(1_100.0) == ["views#2"]
    assert unended(999.0, pending("views#0", 9)) == ["views#3"]
    assert unended(1_300.0 + UNREAD_SECONDS + 1, pending("views#0", 9)) == ["views#3"]


def test_a_running_app_names_partitions_that_wait_for_what_does_not_come(tmp_path: Path) -> None:
    """The growth was seen by a clock that is a day ahead."""
    counted = {"name": "counted", "aggregate": {"from": "views", "aggregates": "count(*) AS n"}}
    sent = {"name": "sent", "sendTo": {"from": "counted", "stream": "out"}}
    streams = [{"name": "views", "key": "user", "columns": "user STRING"}, {"name": "out"}]
    run = InProcessRun(app(counted, sent, streams=streams, partitionSettle="5m"), tmp_path)
    run.system.create("views", 2)
    run.start()
    run.system.grow("views", 4)
    run.take_up_growth()
    ledger = run.loop.ledger
    assert ledger.layout is not None
    splits = [replace(split, seen_at=run.seconds + 86_400) for split in ledger.layout.splits]
    ledger.remember(replace(ledger.layout, splits=tuple(splits)))
    write_all(run.system, "views", inputs([{"user": f"u{number}"} for number in range(24)], "user"), 4)
    run.advance(1)
    assert run.loop.backlog.unread.lasting == ()
    run.advance(UNREAD_SECONDS)
    text = unread_partitions_text(run.loop.backlog.unread.lasting)
    assert "views#2, which waits for where views#0 ended when views grew, views#3, which" in text
    message = unread_partitions_message(run.loop.backlog.unread.lasting)
    assert (message.level, message.text) == ("warn", text)
    run.seconds += 86_400
    run.advance(300)
    run.advance(1)
    assert run.loop.backlog.unread.lasting == ()
    assert "are read" in unread_partitions_message(()).text
    run.end()
    run.system.close()

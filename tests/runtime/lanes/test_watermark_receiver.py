"""What a task hears in a batch, and what follows: from its checkpoint and the batch's records alone."""

from dataclasses import replace

import pytest

from streamapp.control.control_message import ENDED, NO_BOUND, EndOfStream, UpstreamTask, Watermark
from streamapp.control.idle_rule import IdleRule
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import Checkpoint, CheckpointUnreadableError, EventTimeProgress
from streamapp_runtime.lanes.batches.lane_errors import error_message, status_of
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup
from streamapp_runtime.lanes.event_time.watermark_receiver import WatermarkReceiver, WatermarkUpdate
from streamapp_runtime.lanes.protocol.batch_orders import TaskOrder
from streamapp_runtime.lanes.protocol.task_status import TaskStatus
from streamapp_runtime.systems.stream_system import FencedError

P, Q, INNER, PLAIN = (
    Partition("views", 0),
    Partition("views", 1),
    Partition("inner", 0),
    Partition("plain", 0),
)
KEEPING = EventTimeSetup(
    run="run",
    model=1,
    since=0,
    interval=0,
    partitions={"task": (P, Q)},
    delays={"views": 10},
    timed=frozenset({"views", "inner"}),
    made=frozenset({"inner"}),
    controlled=frozenset(),
    outlets={},
    states={},
)
ORDER = TaskOrder("task", 0, "")


def after(news: WatermarkUpdate, turn: int = 0) -> Checkpoint:
    return Checkpoint("run", reached=EventTimeProgress(turn, news.watermarks, {}, news.bookkeeping))


def listening(keeping=KEEPING, before: Checkpoint | None = None, now: int = 0, **order) -> WatermarkReceiver:
    return WatermarkReceiver(keeping, replace(ORDER, **order), before, now, {})


def test_a_stream_is_as_far_as_its_slowest_partition_less_the_delay():
    task = listening()
    task.reach(P, 100)
    assert task.update().watermarks == {}
    task.reach(Q, 70)
    assert task.update().watermarks == {"views": 60}


def test_a_task_goes_on_from_its_checkpoint():
    first = listening()
    first.reach(P, 100)
    second = listening(before=after(first.update()))
    second.reach(Q, 70)
    assert second.update().watermarks == {"views": 60}


def test_a_checkpoint_whose_bookkeeping_cannot_be_read_is_refused_with_its_stream_and_task():
    torn = Checkpoint("run", reached=EventTimeProgress(0, {}, {}, "torn"))
    with pytest.raises(CheckpointUnreadableError) as unreadable:
        listening(before=torn).reach(P, 100)
    assert status_of(unreadable.value) is TaskStatus.UNREADABLE
    message = error_message(unreadable.value, "shop.checkpoint")
    assert message.startswith("shop.checkpoint, partition 0: task task: control bookkeeping")
    assert "restore the checkpoint stream" in message
    assert error_message(FencedError("replaced"), "shop.checkpoint") == "replaced"


def test_an_older_event_takes_nothing_back():
    first = listening()
    first.reach(P, 100)
    first.reach(Q, 100)
    second = listening(before=after(first.update()))
    second.reach(P, 20)
    assert second.update().watermarks == {"views": 90}


IDLE = replace(KEEPING, idle={"views": IdleRule(1_000, 0.5)})


def test_a_silent_partition_is_left_out_when_its_time_is_over_though_no_record_comes():
    first = listening(IDLE, now=500)
    first.reach(P, 100)
    news = first.update()
    assert (news.watermarks, news.idle_at) == ({}, 1_000)
    assert listening(IDLE, after(news), now=999).update().watermarks == {}
    assert listening(IDLE, after(news), now=1_000).update().watermarks == {"views": 90}


def test_a_partition_that_has_records_waiting_is_not_silent():
    first = listening(IDLE, now=500)
    first.reach(P, 100)
    before = after(first.update())
    assert listening(IDLE, before, now=1_200, lagging=(("views", 1),)).update().watermarks == {}


def test_a_pause_in_which_nobody_listened_makes_nobody_silent():
    first = listening(IDLE, now=500)
    first.reach(P, 100)
    started_again = replace(IDLE, since=90_000)
    before = after(first.update())
    assert listening(started_again, before, now=90_400).update().watermarks == {}
    assert listening(started_again, before, now=90_600).update().watermarks == {"views": 90}


MERGED = replace(KEEPING, partitions={"task": (P, Q, PLAIN, INNER)})


def test_a_stream_without_event_times_holds_nobody_back_and_has_no_end():
    assert listening(MERGED).update().watermarks == {"plain": NO_BOUND}


def test_all_upstream_tasks_of_the_run_have_to_speak():
    task = listening(MERGED)
    task.hear(INNER, Watermark(UpstreamTask("a", 2, "run", 1), 50))
    task.hear(INNER, Watermark(UpstreamTask("b", 2, "another", 1), 40))
    assert "inner" not in task.update().watermarks
    later = listening(MERGED, after(task.update()))
    later.hear(INNER, Watermark(UpstreamTask("b", 2, "run", 1), 40))
    assert later.update().watermarks["inner"] == 40


def test_an_upstream_task_that_is_silent_is_left_out_unless_records_wait():
    rule = IdleRule(timeout=100, quorum=0.5)
    keeping = replace(KEEPING, partitions={"task": (INNER,)}, idle_tasks={"inner": rule})
    first = listening(keeping)
    first.hear(INNER, Watermark(UpstreamTask("a", 2, "run", 1), 5))
    first.hear(INNER, Watermark(UpstreamTask("b", 2, "run", 1), 8))
    said = first.update()
    assert (said.watermarks, said.idle_at) == ({"inner": 5}, 100)
    second = listening(keeping, after(said), now=60)
    second.hear(INNER, Watermark(UpstreamTask("b", 2, "run", 1), 9))
    said = second.update()
    assert (said.watermarks, said.idle_at) == ({"inner": 5}, 100)
    assert listening(keeping, after(said), now=100).update().watermarks == {"inner": 9}
    waiting = listening(keeping, after(said), now=100, lagging=(("inner", 0),)).update()
    assert (waiting.watermarks, waiting.idle_at) == ({"inner": 5}, 200)


def test_what_has_ended_in_a_turn_goes_on_in_the_next_from_where_it_was():
    first = listening(replace(MERGED, turn=1), ended=(("views", 0), ("views", 1), ("plain", 0)))
    first.reach(P, 100)
    first.reach(Q, 90)
    first.hear(INNER, EndOfStream(UpstreamTask("a", 1, "run", 1), "inner"))
    news = first.update()
    assert news.watermarks == {"views": ENDED, "plain": ENDED, "inner": ENDED}
    assert news.short == {"views": 80, "plain": NO_BOUND}
    second = listening(replace(MERGED, turn=2, run="run/2"), after(news, turn=1))
    assert second.update().watermarks == {"views": 80, "plain": NO_BOUND}


def test_books_that_come_from_another_task_count_more_than_none():
    other = listening(replace(KEEPING, partitions={"task": (Q,)}))
    other.reach(Q, 70)
    task = listening(inherited_bookkeeping=other.update().bookkeeping)
    task.reach(P, 100)
    assert task.update().watermarks == {"views": 60}


def test_who_hears_nothing_writes_the_same_books_again():
    first = listening()
    first.reach(P, 100)
    news = first.update()
    assert listening(before=after(news), now=5_000).update().bookkeeping == news.bookkeeping

"""What tasks say to the streams between stages, and when."""

from dataclasses import replace

from streamapp.control.control_message import ENDED, EndOfStream, UpstreamTask, Watermark
from streamapp.control.message_codec import decode_message
from streamapp.tasks.partition import Partition
from streamapp_runtime.checkpoint import EventTimeProgress
from streamapp_runtime.lanes.event_time.event_time_setup import EventTimeSetup, WatermarkOutput
from streamapp_runtime.lanes.event_time.watermark_receiver import WatermarkUpdate
from streamapp_runtime.lanes.event_time.watermark_sender import WatermarkSender, has_ended
from streamapp_runtime.operators.state.event_clock import EventClock, WatermarkReach

KEEPING = EventTimeSetup(
    run="run",
    model=3,
    since=0,
    interval=1_000,
    partitions={"a": (Partition("views", 0),), "b": (Partition("others", 0),)},
    delays={"views": 0},
    timed=frozenset({"views"}),
    made=frozenset({"inner"}),
    controlled=frozenset(),
    outlets={"inner": WatermarkOutput(2, 1, WatermarkReach({"views": 5}, timed=True))},
    states={},
)


def said(now: int, watermark: int, before: EventTimeProgress | None = None, task: str = "a"):
    speaking = WatermarkSender(KEEPING, now)
    stream = "views" if task == "a" else "others"
    reached, due = speaking.after(
        task, before or EventTimeProgress(), WatermarkUpdate({stream: watermark}, "books", None)
    )
    values = {
        partition: decode_message(batch.column("value")[0].as_py()) for partition, batch in speaking.records()
    }
    return values, reached, due


def test_a_watermark_is_written_to_every_partition_behind_what_holds_it_back():
    values, reached, due = said(100, 50)
    message = Watermark(UpstreamTask("a", 1, "run", 3), 45)
    assert values == {Partition("inner", 0): message, Partition("inner", 1): message}
    assert (reached.watermarks, reached.heard, due) == ({"views": 50}, "books", None)


def test_the_next_one_waits_for_the_interval_and_says_until_when():
    _, before, _ = said(100, 50)
    values, after, due = said(600, 80, before)
    assert (values, due) == ({}, 1_100)
    values, _, _ = said(1_100, 80, after)
    assert {message.reached for message in values.values()} == {75}


def test_an_end_waits_for_nothing():
    _, before, _ = said(100, 50)
    values, after, _ = said(101, ENDED, before)
    assert {type(message) for message in values.values()} == {EndOfStream}
    assert has_ended(KEEPING, "a", after)


def test_who_reads_no_source_of_a_stream_says_nothing_to_it():
    assert said(100, 50, task="b")[0] == {}


def test_what_an_operator_has_reached_short_of_an_end_is_kept_over_turns():
    timed = replace(KEEPING, states={"counted": WatermarkReach({"views": 5}, timed=True)}, turn=1)
    first, _ = WatermarkSender(timed, 0).after(
        "a", EventTimeProgress(1), WatermarkUpdate({"views": 50}, "", None)
    )
    ended, _ = WatermarkSender(timed, 0).after("a", first, WatermarkUpdate({"views": ENDED}, "", None))
    next_turn, _ = WatermarkSender(replace(timed, turn=2), 0).after(
        "a", ended, WatermarkUpdate({"views": 30}, "", None)
    )
    assert first.closed == ended.closed == next_turn.closed == {"counted": 45}
    clock = EventClock(timed.states, [{"views": None}], [{"views": 60}], True, [ended.closed])
    assert (clock.at_start(0, "counted"), clock.at_end(0, "counted")) == (45, 55)

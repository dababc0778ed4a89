from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import ENDED, NO_BOUND, EndOfStream, UpstreamTask, Watermark
from streamapp.control.control_sender import ControlSender, LastSent, output_watermark, starting_watermark
from streamapp.control.message_codec import decode_message
from streamapp.tasks.partition import Partition

ME = UpstreamTask("a", 2, "r", 3)
SENDER = ControlSender("int", 4, ME, interval=1_000)
SENT = LastSent(model=3, watermark=10, at=5_000)


def test_a_message_goes_to_every_partition_of_the_stream() -> None:
    message = Watermark(ME, 5)
    records = SENDER.records(message)
    assert [partition for partition, _ in records] == [Partition("int", index) for index in range(4)]
    assert {decode_message(value) for _, value in records} == {message}


def test_nothing_is_written_before_there_is_a_watermark() -> None:
    assert SENDER.due(None, None, 0) is None
    assert SENDER.due_at(None, None, 0) is None


def test_the_first_watermark_is_written_at_once() -> None:
    assert SENDER.due(5, None, 0) == Watermark(ME, 5)


def test_a_watermark_that_did_not_move_is_not_written_again() -> None:
    assert SENDER.due(10, SENT, 99_999) is None
    assert SENDER.due(9, SENT, 99_999) is None
    assert SENDER.due_at(10, SENT, 99_999) is None


def test_a_watermark_waits_for_the_interval_and_says_when_it_will_be_due() -> None:
    assert SENDER.due(11, SENT, 5_999) is None
    assert SENDER.due_at(11, SENT, 5_999) == 6_000
    assert SENDER.due(11, SENT, 6_000) == Watermark(ME, 11)


def test_an_end_does_not_wait_and_is_written_once() -> None:
    end = SENDER.due(ENDED, SENT, 5_001)
    assert end == EndOfStream(ME, "int")
    assert SENDER.due(ENDED, SENDER.sent(end, 5_001), 99_999) is None


def test_in_a_new_model_the_last_word_is_said_again_at_once() -> None:
    before = LastSent(model=2, watermark=10, at=5_000)
    assert SENDER.due(10, before, 5_001) == Watermark(ME, 10)
    assert SENDER.due(ENDED, LastSent(2, ENDED, 5_000), 5_001) == EndOfStream(ME, "int")


def test_a_task_that_was_given_a_partition_that_has_not_ended_takes_its_end_back_in_the_new_model() -> None:
    assert SENDER.due(7, LastSent(model=2, watermark=ENDED, at=5_000), 5_001) == Watermark(ME, 7)


def test_a_clock_that_was_set_back_silences_nobody() -> None:
    assert SENDER.due(11, SENT, 4_999) == Watermark(ME, 11)


def test_what_a_task_has_reached_is_the_lowest_of_the_sources_that_it_reads() -> None:
    assert output_watermark(["a", "b", "elsewhere"], {"a": 5, "b": 3, "other": 1}) == 3
    assert output_watermark(["a", "b"], {"a": 5, "b": None}) is None
    assert output_watermark(["a", "b"], {"a": ENDED, "b": 8}) == 8
    assert output_watermark(["a", "b"], {"a": ENDED, "b": ENDED}) == ENDED


def test_a_source_without_event_times_holds_nobody_back_and_yet_has_not_ended() -> None:
    untimed = starting_watermark(timed=False)
    assert output_watermark(["a", "b"], {"a": 5, "b": untimed}) == 5
    assert output_watermark(["a", "b"], {"a": ENDED, "b": untimed}) == NO_BOUND
    assert starting_watermark(timed=True) is None


def test_of_a_stream_without_event_times_only_the_end_is_written() -> None:
    assert output_watermark(["b"], {"b": NO_BOUND}, timed=False) is None
    assert output_watermark(["b"], {"b": ENDED}, timed=False) == ENDED


MOMENTS = st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 5)), max_size=30)


@given(MOMENTS)
def test_every_watermark_is_written_within_an_interval_and_never_two_in_one(
    moments: list[tuple[int, int]],
) -> None:
    now, watermark, sent = 0, 0, None
    times: list[int] = []
    for pause, rise in moments:
        due = SENDER.due_at(watermark, sent, now)
        if due is not None and due < now + pause:  # a driver without input runs a batch when one is due
            sent = _written(watermark, sent, due, times)
        now += pause
        watermark += rise
        sent = _written(watermark, sent, now, times)
        assert sent is not None
        assert sent.watermark == watermark or now - sent.at < SENDER.interval
    assert all(later - earlier >= SENDER.interval for earlier, later in pairwise(times))


def _written(watermark: int, sent: LastSent | None, now: int, times: list[int]) -> LastSent | None:
    message = SENDER.due(watermark, sent, now)
    if message is None:
        return sent
    times.append(now)
    return SENDER.sent(message, now)

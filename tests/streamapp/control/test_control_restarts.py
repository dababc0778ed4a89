from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.bookkeeping import (
    Bookkeeping,
    bookkeeping_changes,
    merge_bookkeeping,
    resume_bookkeeping,
    take_bookkeeping,
)
from streamapp.control.bookkeeping_codec import decode_bookkeeping, encode_bookkeeping
from streamapp.control.control_message import ENDED, Control, UpstreamTask
from streamapp.control.control_reader import ControlReader
from streamapp.control.control_sender import ControlSender, LastSent
from streamapp.control.idle_rule import IdleRule
from streamapp.control.stream_watermark import WatermarkPolicy
from tests.harness.core.control_histories import streams
from tests.harness.core.control_messages import P, ends, hears, reader, says

Streams = tuple[list[list[Control]], list[int]]
READINGS = {"int": WatermarkPolicy(idle_tasks=IdleRule(timeout=20, quorum=0.5))}


def through_text(books: Bookkeeping) -> Bookkeeping:
    read = decode_bookkeeping(encode_bookkeeping(books))
    assert isinstance(read, Bookkeeping), read
    return read


def restored(books: Bookkeeping, partitions: int, now: int) -> ControlReader:
    return ControlReader.of(P[:partitions], now, READINGS, books.partitions, books.emitted)


@given(streams(), st.lists(st.integers(0, 25), min_size=72, max_size=72), st.data())
def test_a_task_restored_anywhere_is_told_what_it_would_have_been_told(
    given_streams: Streams, pauses: list[int], data: st.DataObject
) -> None:
    """Between any two messages the reader may be lost, with some that it heard: those are then read again."""
    histories, turns = given_streams
    count = len(histories)
    left = [iter(history) for history in histories]
    words = [(P[turn], next(left[turn]), pause) for turn, pause in zip(turns, pauses, strict=False)]

    now, uninterrupted, told, books, times = 0, ControlReader.of(P[:count], 0, READINGS), [], [], []
    for partition, message, pause in words:
        books.append(through_text(take_bookkeeping(uninterrupted, {}, now)))
        now += pause
        times.append(now)
        told.append(hears(uninterrupted, partition, message, now))

    position, again, committed = 0, ControlReader.of(P[:count], 0, READINGS), 0
    told_again: list[int | None] = []
    while position < len(words):
        if data.draw(st.integers(0, 5)) == 0:  # lost: what was not committed did not happen
            position = committed
            del told_again[position:]
            again = restored(books[position], count, 0)
        partition, message, _ = words[position]
        told_again.append(hears(again, partition, message, times[position]))
        position += 1
        if position < len(words) and data.draw(st.booleans()):
            committed = position
            assert take_bookkeeping(again, {}, books[position].at) == books[position]
    assert told_again == told
    assert again == uninterrupted


@given(streams(), st.lists(st.integers(0, 2), min_size=72, max_size=72))
def test_changes_put_on_top_of_each_other_are_the_whole(given_streams: Streams, pauses: list[int]) -> None:
    histories, turns = given_streams
    listener = reader(len(histories))
    left = [iter(history) for history in histories]
    now = 0
    before = replayed = take_bookkeeping(listener, {}, now)
    sent: dict[str, LastSent] = {}
    for turn, pause in zip(turns, pauses, strict=False):
        now += pause
        listener.accept(P[turn], next(left[turn]), now)
        if pause:
            listener.advance(now)
            sent[f"out{turn}"] = LastSent(1, now, now)
        after = take_bookkeeping(listener, sent, now)
        replayed = merge_bookkeeping(replayed, through_text(bookkeeping_changes(before, after)))
        assert replayed == after
        before = after


def test_a_change_is_what_one_task_said() -> None:
    listener = reader()
    for number in range(100):
        hears(listener, P[0], says(f"t{number}", 5, of=100))
    before = take_bookkeeping(listener, {}, 0)
    hears(listener, P[0], says("t7", 9, of=100), 3)
    change = bookkeeping_changes(before, take_bookkeeping(listener, {}, 3))
    assert change.partitions[P[0]].reached == {"t7": 9}
    assert not change.whole


def test_what_is_the_same_is_no_change() -> None:
    listener = reader(2)
    hears(listener, P[0], says("a", 5, of=1))
    books = take_bookkeeping(listener, {"out": LastSent(1, 5, 0)}, 0)
    assert bookkeeping_changes(books, replace(books, at=9)) == Bookkeeping(9, whole=False)


def test_when_a_partition_is_gone_the_books_are_written_whole() -> None:
    wide, narrow = take_bookkeeping(reader(2), {}, 0), take_bookkeeping(reader(1), {}, 1)
    assert bookkeeping_changes(wide, narrow) == narrow
    assert merge_bookkeeping(wide, narrow) == narrow


def test_a_partition_takes_its_words_along_to_another_task() -> None:
    before = reader(2)
    hears(before, P[1], says("a", 5))
    books = take_bookkeeping(before, {}, 0)
    after = ControlReader.of([P[1]], 7, known=books.partitions)
    assert hears(after, P[1], says("b", 8)) == 5


def test_a_restored_task_does_not_write_again_what_it_had_written() -> None:
    sender = ControlSender("out", 2, UpstreamTask("t", 1, "r", 1), interval=1_000)
    for watermark in (7, ENDED):
        message = sender.due(watermark, None, 50)
        assert message is not None
        books = through_text(take_bookkeeping(reader(), {"out": sender.sent(message, 50)}, 50))
        assert sender.due(watermark, books.sent["out"], 9_999) is None


def test_books_do_not_change_with_the_reader_they_were_taken_from() -> None:
    listener = reader()
    hears(listener, P[0], ends("a"))
    books = take_bookkeeping(listener, {}, 0)
    hears(listener, P[0], ends("b"))
    assert books.partitions[P[0]].reached.keys() == {"a"}


def test_a_pause_in_which_nobody_listened_makes_nobody_idle() -> None:
    listener = ControlReader.of(P[:1], 0, READINGS)
    hears(listener, P[0], says("a", 5), 0)
    hears(listener, P[0], says("b", 8), 10)
    books = resume_bookkeeping(take_bookkeeping(listener, {}, 10), 1_000)
    assert books.at == 1_000
    again = restored(books, 1, 1_000)
    assert hears(again, P[0], says("b", 9), 1_009) is None
    assert hears(again, P[0], says("b", 9), 1_010) == 9
    at_once = restored(take_bookkeeping(listener, {}, 10), 1, 1_000)
    assert hears(at_once, P[0], says("b", 9), 1_000) == 9

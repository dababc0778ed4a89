from streamapp.control.stream_watermark import WatermarkPolicy, lowest_watermark
from streamapp.tasks.partition import Partition
from tests.harness.core.control_messages import P, hears, reader, says


def test_a_partition_has_no_watermark_until_every_upstream_task_has_spoken() -> None:
    listener = reader()
    assert hears(listener, P[0], says("a", 6)) is None
    assert hears(listener, P[0], says("b", 3)) == 3


def test_a_stream_has_the_lowest_watermark_of_its_partitions() -> None:
    listener = reader(2)
    told = [
        hears(listener, partition, says(task, time))
        for partition, task, time in [
            (P[0], "a", 6), (P[0], "b", 3), (P[1], "a", 10), (P[1], "b", 4), (P[0], "b", 8), (P[1], "b", 7)
        ]
    ]  # fmt: skip
    assert told == [None, None, None, 3, 4, 6]


def test_a_word_that_is_earlier_than_the_task_s_last_is_not_heard() -> None:
    listener = reader()
    hears(listener, P[0], says("a", 6))
    hears(listener, P[0], says("b", 5))
    assert not listener.accept(P[0], says("b", 4), 0)
    assert listener.advance(0) == {}


def test_times_before_1970_are_watermarks_like_any_other() -> None:
    assert hears(reader(), P[0], says("a", -7, of=1)) == -7


def test_a_partition_of_another_task_is_not_heard() -> None:
    assert not reader().accept(Partition("other", 0), says("a", 1, of=1), 0)
    assert not reader().accept(P[1], says("a", 1, of=1), 0)


def test_messages_of_another_run_are_not_heard_in_the_same_app() -> None:
    listener = reader(reading=WatermarkPolicy(run="r"))
    assert hears(listener, P[0], says("a", 9, of=1, run="old")) is None
    assert hears(listener, P[0], says("a", 3, of=1)) == 3
    assert hears(listener, P[0], says("a", 9, of=1, run="later")) is None


def test_a_reader_in_another_app_takes_the_newest_run_and_no_late_word_of_the_one_before() -> None:
    listener = reader()
    assert hears(listener, P[0], says("a", 3, of=1, run="one", model=7)) == 3
    assert hears(listener, P[0], says("a", 5, of=2, run="two", model=1)) is None
    assert hears(listener, P[0], says("b", 9, of=2, run="one", model=8)) is None
    assert hears(listener, P[0], says("b", 4, of=2, run="two", model=1)) == 4


def test_a_message_without_a_task_speaks_for_all() -> None:
    listener = reader()
    assert hears(listener, P[0], says(None, 5)) == 5
    assert hears(listener, P[0], says(None, 4)) is None


def test_a_partition_that_comes_later_does_not_take_the_watermark_back() -> None:
    listener = reader()
    hears(listener, P[0], says("a", 50, of=1))
    known = {P[0]: listener.streams["int"].partitions[0]}
    wider = type(listener).of(P[:2], 0, known=known, emitted={"int": 50})
    assert wider.watermarks() == {"int": 50}
    assert hears(wider, P[1], says("a", 40, of=1)) is None
    assert hears(wider, P[1], says("a", 60, of=1)) is None
    assert hears(wider, P[0], says("a", 55, of=1)) == 55


def test_what_goes_on_together_has_the_lowest_watermark_or_none() -> None:
    assert lowest_watermark([4, 3, 9]) == 3
    assert lowest_watermark([4, None]) is None
    assert lowest_watermark([]) is None

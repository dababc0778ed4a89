from streamapp.control.control_message import ENDED
from streamapp.control.control_reader import ControlReader
from streamapp.control.end_of_stream import all_ended, ends_among, partition_ended, stream_ended, tasks_ended
from streamapp.tasks.partition import Partition
from tests.harness.core.control_messages import P, ends, hears, reader, says


def test_a_stream_ends_when_all_upstream_tasks_have_ended_in_all_partitions() -> None:
    listener = reader(2)
    stream = listener.streams["int"]
    told = [hears(listener, P[index], ends(task)) for index, task in [(0, "a"), (1, "a"), (0, "b"), (1, "b")]]
    assert told == [None, None, None, ENDED]
    assert [partition_ended(stream.partitions[index]) for index in (0, 1)] == [True, True]
    assert stream_ended(stream)


def test_a_task_that_ended_twice_is_one_task() -> None:
    listener = reader()
    hears(listener, P[0], ends("a"))
    assert hears(listener, P[0], ends("a")) is None
    assert tasks_ended(listener.streams["int"].partitions[0]) == {"a"}


def test_a_task_that_ended_holds_the_others_watermark_back_no_more() -> None:
    listener = reader()
    hears(listener, P[0], says("a", 3))
    assert hears(listener, P[0], says("b", 8)) == 3
    assert hears(listener, P[0], ends("a")) == 8


def test_a_word_after_the_end_changes_nothing() -> None:
    listener = reader()
    hears(listener, P[0], ends("a"))
    assert hears(listener, P[0], ends("b")) == ENDED
    assert hears(listener, P[0], says("a", 5)) is None
    assert hears(listener, P[0], ends("b")) is None
    assert hears(listener, P[0], ends("a", model=2)) is None
    assert stream_ended(listener.streams["int"])


def test_a_task_has_ended_when_all_its_streams_have() -> None:
    views = Partition("views", 0)
    listener = ControlReader.of([views, P[0]], now=0)
    assert ends_among({"int": 5}) == ()
    listener.reach(views, ENDED, 0)
    assert ends_among(listener.advance(0)) == ("views",)
    assert not all_ended(listener.streams.values())
    hears(listener, P[0], ends("a", of=1))
    assert all_ended(listener.streams.values())


def test_a_task_without_a_stream_has_ended() -> None:
    assert all_ended([])

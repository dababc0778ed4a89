from math import floor

from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import ENDED
from streamapp.control.control_reader import ControlReader
from streamapp.control.idle_rule import IdleRule
from streamapp.control.stream_watermark import WatermarkPolicy
from streamapp.tasks.partition import Partition
from tests.harness.core.control_messages import P, ends, hears, reader, says

IDLE = WatermarkPolicy(idle_tasks=IdleRule(timeout=100, quorum=0.5))


def two_tasks(now: int = 0) -> ControlReader:
    """a at 5 and b at 8, both heard at 0."""
    listener = reader(reading=IDLE, now=now)
    hears(listener, P[0], says("a", 5), now)
    assert hears(listener, P[0], says("b", 8), now) == 5
    return listener


def test_a_task_is_idle_exactly_when_the_timeout_has_passed_since_it_was_heard() -> None:
    assert hears(two_tasks(), P[0], says("b", 9), 99) is None
    assert hears(two_tasks(), P[0], says("b", 9), 100) == 9


def test_an_idle_task_is_left_out_without_any_message_when_a_batch_asks() -> None:
    listener = two_tasks()
    hears(listener, P[0], says("b", 9), 50)
    assert listener.advance(99) == {}
    assert listener.advance(100) == {"int": 9}


def test_nobody_is_left_out_when_all_together_advance() -> None:
    listener = reader(reading=IDLE)
    hears(listener, P[0], says("a", 5), 0)
    assert hears(listener, P[0], says("b", 8), 100) == 5


def test_an_equal_timestamp_is_a_sign_of_life_and_a_smaller_one_is_not() -> None:
    listener = two_tasks()
    hears(listener, P[0], says("a", 5), 60)
    assert hears(listener, P[0], says("b", 9), 120) is None
    listener = two_tasks()
    hears(listener, P[0], says("a", 4), 60)
    assert hears(listener, P[0], says("b", 9), 120) == 9


def test_the_quorum_is_rounded_down() -> None:
    for of, active, told in [(4, 2, True), (4, 1, False), (5, 2, True), (3, 1, True)]:
        listener = reader(reading=IDLE)
        for task in range(of):
            hears(listener, P[0], says(f"t{task}", 5, of=of), 0)
        for task in range(of - active, of):
            hears(listener, P[0], says(f"t{task}", 9, of=of), 200)
        assert (listener.watermarks()["int"] == 9) is told, (of, active)


def test_when_all_are_idle_nothing_advances() -> None:
    listener = reader(reading=WatermarkPolicy(idle_tasks=IdleRule(100, 0.0)))
    hears(listener, P[0], says("a", 5), 0)
    hears(listener, P[0], says("b", 8), 0)
    assert listener.advance(500) == {}


def test_a_task_that_was_never_heard_is_idle_a_timeout_after_listening_began() -> None:
    listener = reader(reading=IDLE, now=1_000)
    assert hears(listener, P[0], says("b", 9), 1_099) is None
    assert hears(listener, P[0], says("b", 9), 1_100) == 9


def test_a_new_model_gives_its_tasks_the_whole_timeout() -> None:
    listener = two_tasks()
    hears(listener, P[0], says("b", 9, model=2), 90)
    assert listener.advance(189) == {}
    hears(listener, P[0], says("b", 9, model=2), 189)
    assert listener.advance(190) == {"int": 9}


def test_a_task_that_ended_counts_as_active_and_ends_nobody_who_is_silent() -> None:
    listener = reader(reading=WatermarkPolicy(idle_tasks=IdleRule(100, 0.6)))
    for task in "abc":
        hears(listener, P[0], says(task, 5, of=3), 0)
    hears(listener, P[0], ends("c", of=3), 10)
    assert hears(listener, P[0], says("b", 9, of=3), 200) == 9
    assert hears(listener, P[0], ends("b", of=3), 400) is None
    assert hears(listener, P[0], ends("a", of=3), 900) == ENDED


def test_a_task_that_comes_back_does_not_take_the_watermark_back() -> None:
    listener = two_tasks()
    assert hears(listener, P[0], says("b", 50), 100) == 50
    assert hears(listener, P[0], says("a", 20), 110) is None
    assert hears(listener, P[0], says("a", 60), 120) is None
    assert hears(listener, P[0], says("b", 70), 130) == 60


def test_a_silent_source_partition_holds_the_stream_back_until_the_timeout() -> None:
    views = [Partition("views", index) for index in range(2)]
    rule = WatermarkPolicy(idle_partitions=IdleRule(timeout=100, quorum=0.5))
    listener = ControlReader.of(views, 0, {"views": rule})
    listener.reach(views[0], 10, 0)
    assert listener.advance(99) == {}
    listener.reach(views[0], 20, 100)
    assert listener.advance(100) == {"views": 20}
    listener.reach(views[1], 15, 110)
    assert listener.advance(110) == {}
    listener.reach(views[1], 30, 120)
    listener.reach(views[0], 40, 120)
    assert listener.advance(120) == {"views": 30}


WORDS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3), st.integers(0, 12)), max_size=25)


@given(st.integers(1, 4), st.integers(0, 10), WORDS)
def test_the_rule_is_what_it_says(of: int, tenths: int, words: list[tuple[int, int, int]]) -> None:
    """Restated over all words so far: (time, task, timestamp), those that were accepted."""
    quorum = tenths / 10
    listener = reader(reading=WatermarkPolicy(idle_tasks=IdleRule(timeout=100, quorum=quorum)))
    now, watermark = 0, -1
    accepted: list[tuple[int, str, int]] = []
    for pause, number, timestamp in words:
        now += pause
        task = f"t{number % of}"
        if timestamp >= max((said for _, who, said in accepted if who == task), default=timestamp):
            accepted.append((now, task, timestamp))
        hears(listener, P[0], says(task, timestamp, of=of), now)

        last = {who: (time, said) for time, who, said in accepted}
        plain = min(said for _, said in last.values()) if len(last) == of else -1
        if plain > watermark:
            watermark = plain
        elif len(last) == of or now >= 100:
            active = [said for time, said in last.values() if now - time < 100]
            if active and len(active) >= floor(of * quorum):
                watermark = max(watermark, min(active))
        assert listener.watermarks()["int"] == (None if watermark < 0 else watermark)

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import ENDED, Control, EndOfStream, UpstreamTask, Watermark
from streamapp.control.control_sender import ControlSender, LastSent
from streamapp.control.message_codec import decode_message
from tests.harness.core.control_messages import P, ends, hears, reader, says


@dataclass
class Upstream:
    """Upstream tasks over several models. Each partition of the stream holds what was written, in order."""

    partitions: int
    log: list[list[bytes]] = field(default_factory=list)
    sent: dict[str, LastSent] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    model: int = 0
    tasks: tuple[str, ...] = ()

    def regroup(self, tasks: int) -> None:
        """A new model; a task that was not there starts where the slowest has been."""
        slowest = min(self.reached.values(), default=0)
        self.model += 1
        self.tasks = tuple(f"t{number}" for number in range(tasks))
        self.reached = {task: self.reached.get(task, slowest) for task in self.tasks}

    def rise(self, task: str, by: int) -> None:
        self.reached[task] = ENDED if by == ENDED else self.reached[task] + by

    def write(self, now: int) -> None:
        for task in self.tasks:
            sender = ControlSender(
                "int", self.partitions, UpstreamTask(task, len(self.tasks), "r", self.model), interval=10
            )
            message = sender.due(self.reached[task], self.sent.get(task), now)
            if message is not None:
                self.sent[task] = sender.sent(message, now)
                for partition, value in sender.records(message):
                    self.log[partition.index].append(value)


def heard(value: bytes) -> Control:
    message = decode_message(value)
    assert isinstance(message, Watermark | EndOfStream)
    return message


def test_eight_then_four_then_eight_tasks_neither_stall_nor_step_back() -> None:
    upstream = Upstream(2, [[], []])
    listener = reader(2)
    told: list[int] = []
    read = [0, 0]
    for turn, tasks in enumerate([8, 4, 8]):
        upstream.regroup(tasks)
        for now in range(turn * 30, turn * 30 + 30, 10):
            for task in upstream.tasks:
                upstream.rise(task, 5)
            upstream.write(now)
        for index, values in enumerate(upstream.log):
            for value in values[read[index] :]:
                listener.accept(P[index], heard(value), 0)
            read[index] = len(values)
        told.extend(listener.advance(0).values())
    assert told == [15, 30, 45]


def test_a_new_model_waits_for_all_of_its_tasks_and_keeps_what_was_reached() -> None:
    listener = reader()
    hears(listener, P[0], says("a", 9))
    assert hears(listener, P[0], says("b", 9)) == 9
    assert hears(listener, P[0], says("a", 12, model=2)) is None
    assert hears(listener, P[0], says("b", 7, model=2)) is None
    assert hears(listener, P[0], says("b", 11, model=2)) == 11


def test_what_the_last_model_had_reached_counts_even_when_no_batch_asked() -> None:
    listener = reader()
    for message in (says("a", 9), says("b", 8), says("a", 12, model=2)):
        listener.accept(P[0], message, 0)
    assert listener.advance(0) == {"int": 8}


def test_a_word_of_an_older_model_is_not_heard() -> None:
    listener = reader()
    hears(listener, P[0], says("a", 5, of=1, model=3))
    assert not listener.accept(P[0], says("a", 9, of=1, model=2), 0)
    assert not listener.accept(P[0], ends("a", of=1, model=2), 0)


def test_an_end_said_in_an_older_model_has_to_be_said_again() -> None:
    listener = reader()
    hears(listener, P[0], ends("a", model=1))
    assert hears(listener, P[0], ends("b", model=2)) is None
    assert hears(listener, P[0], ends("a", model=2)) == ENDED


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("regroup"), st.integers(1, 8), st.just(0)),
        st.tuples(st.just("rise"), st.integers(0, 7), st.integers(0, 9)),
        st.tuples(st.just("wait"), st.integers(0, 15), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, 1), st.integers(1, 5)),
    ),
    max_size=40,
)


@given(STEPS, st.booleans())
def test_whatever_models_come_readers_end_where_the_upstream_tasks_are(
    steps: list[tuple[str, int, int]], ended: bool
) -> None:
    upstream = Upstream(2, [[], []])
    upstream.regroup(2)
    listener = reader(2)
    read, now = [0, 0], 0
    told: list[int] = []
    last_word = [("rise", number, ENDED if ended else 0) for number in range(8)]
    for kind, number, amount in [*steps, *last_word, ("wait", 10, 0), ("read", 0, 999), ("read", 1, 999)]:
        if kind == "regroup":
            upstream.regroup(number)
        elif kind == "rise":
            task = upstream.tasks[number % len(upstream.tasks)]
            upstream.rise(task, amount)
        elif kind == "wait":
            now += number
        else:
            for value in upstream.log[number][read[number] : read[number] + amount]:
                listener.accept(P[number], heard(value), now)
                read[number] += 1
            told += listener.advance(now).values()
        upstream.write(now)
    assert told == sorted(set(told))
    assert listener.watermarks()["int"] == min(upstream.reached.values())

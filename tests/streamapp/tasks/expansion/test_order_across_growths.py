"""The order of a key's records across growths, watched from outside: what was written, what is read."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from streamapp.tasks.expansion.split_waits import split_waits
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.split import is_split_due, settle_split
from streamapp.tasks.partition import Partition
from tests.harness.core.task_forming import formed

SETTLE = 4
KEYS = range(6)


@dataclass(slots=True)
class Topic:
    """A stream that grows, written by producers each of which sees a growth later by its own lag."""

    growths: list[tuple[int, int]]  # since when, how many
    lags: list[int]
    log: defaultdict[Partition, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))

    def count(self, tick: int, lag: int) -> int:
        return [count for since, count in self.growths if since + lag <= tick or since == 0][-1]

    def produce(self, tick: int) -> None:
        for producer, lag in enumerate(self.lags):
            for key in KEYS:
                self.log[Partition("views", key % self.count(tick, lag))].append((producer, key, tick))

    def ends(self) -> dict[Partition, int]:
        largest = self.growths[-1][1]
        return {one: len(self.log[one]) for one in (Partition("views", index) for index in range(largest))}


@dataclass(slots=True)
class Reader:
    """An app that sees growths late and reads what is open at a pace of its own."""

    app: Assignment
    positions: dict[Partition, int] = field(default_factory=dict)
    read: defaultdict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))

    def see(self, topic: Topic, count: int, tick: int) -> None:
        if count != self.app.layout.streams["views"].last:
            self.app = formed({"views": count}, self.app, now=float(tick))
        ends, splits = topic.ends(), self.app.layout.splits
        splits = tuple(
            settle_split(one, ends) if is_split_due(one, float(tick), SETTLE) else one for one in splits
        )
        layout = replace(self.app.layout, splits=splits)
        self.app = replace(self.app, layout=layout)

    def batch(self, topic: Topic, random: Random, most: int | None) -> None:
        for task in self.app.tasks.values():
            for partition in random.sample(task, len(task)):
                if split_waits(partition, task, self.app.layout.splits, self.positions):
                    continue
                position = self.positions.get(partition, 0)
                taken = topic.log[partition][position:][: None if most is None else random.randint(0, most)]
                self.positions[partition] = position + len(taken)
                for producer, key, written in taken:
                    self.read[producer, key].append(written)


@given(
    first=st.integers(1, 3),
    growths=st.lists(st.tuples(st.integers(1, 9), st.sampled_from([2, 3])), max_size=3),
    lags=st.lists(st.integers(0, SETTLE - 1), min_size=1, max_size=3),
    seen_late=st.integers(0, 2),
    random=st.randoms(use_true_random=False),
)
def test_a_producers_records_of_a_key_are_read_in_order_and_all_of_them(
    first: int, growths: list[tuple[int, int]], lags: list[int], seen_late: int, random: Random
) -> None:
    history = [(0, first)]
    for pause, factor in growths:
        history.append((history[-1][0] + pause, history[-1][1] * factor))
    topic, reader = Topic(history, lags), Reader(formed({"views": first}))
    produced_until = history[-1][0] + 12
    for tick in range(produced_until):
        topic.produce(tick)
        reader.see(topic, topic.count(tick, seen_late), tick)
        reader.batch(topic, random, most=8)
    written = sum(topic.ends().values())
    # Each round of reading opens what waited for the one before, so there are no more rounds than growths.
    for _ in range(len(history)):
        reader.see(topic, history[-1][1], produced_until + SETTLE)
        reader.batch(topic, random, most=None)
    assert all(times == sorted(times) for times in reader.read.values())
    assert sum(map(len, reader.read.values())) == written

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp.tasks.opening import Wait, inherited_watermark, unfinished, waits
from streamapp.tasks.partition import Partition
from streamapp.tasks.split import Parting, Split, is_due, settled
from tests.tasks.forming import formed

V = [Partition("views", index) for index in range(16)]
GROWN = Split("views", before=2, after=4, seen_at=100.0)


def test_a_split_is_due_when_the_producers_had_time_to_see_the_growth() -> None:
    assert not is_due(GROWN, now=399.9, settle=300.0)
    assert is_due(GROWN, now=400.0, settle=300.0)
    assert is_due(GROWN, now=100.0, settle=0.0)


def test_a_split_is_due_once() -> None:
    assert not is_due(settled(GROWN, {}), now=1e9, settle=0.0)


def test_until_it_has_settled_new_partitions_wait_for_no_known_position() -> None:
    task = [V[0], V[2]]
    assert waits(V[2], task, [GROWN], {V[0]: 10**9}) == (Wait(V[0], None),)
    assert waits(V[0], task, [GROWN], {}) == ()


def test_a_new_partition_opens_when_the_old_one_of_its_task_has_passed_its_split_offset() -> None:
    split = settled(GROWN, {V[0]: 50, V[1]: 90})
    task = [V[0], V[2]]
    assert waits(V[2], task, [split], {V[0]: 49}) == (Wait(V[0], 50),)
    assert waits(V[2], task, [split], {V[0]: 50}) == ()


def test_an_empty_old_partition_keeps_nobody_waiting() -> None:
    assert waits(V[2], [V[0], V[2]], [settled(GROWN, {})], {}) == ()


def test_growths_chain() -> None:
    first = settled(GROWN, {V[0]: 5, V[1]: 5})
    second = settled(Split("views", 4, 8, 200.0), {V[0]: 8, V[1]: 8, V[2]: 3, V[3]: 3})
    task = [V[0], V[2], V[4], V[6]]
    assert waits(V[6], task, [first, second], {V[0]: 8}) == (Wait(V[2], 3),)
    assert waits(V[2], task, [first, second], {V[0]: 4}) == (Wait(V[0], 5),)
    assert waits(V[6], task, [first, second], {V[0]: 8, V[2]: 3}) == ()


def test_partitions_of_another_stream_or_task_are_not_waited_for() -> None:
    other = Partition("clicks", 0)
    assert waits(V[2], [other, V[2]], [GROWN], {}) == ()
    assert waits(other, [other, V[0]], [GROWN], {}) == ()


def test_a_split_that_everybody_has_passed_is_forgotten() -> None:
    split = settled(GROWN, {V[0]: 5, V[1]: 6})
    assert unfinished([split], {V[0]: 5, V[1]: 5}) == (split,)
    assert unfinished([split, GROWN], {V[0]: 5, V[1]: 6}) == (GROWN,)


def test_a_new_partition_takes_over_the_watermark_of_the_one_it_was_split_from() -> None:
    splits = [GROWN, Split("views", 4, 8, 200.0)]
    task = [V[0], V[2], V[4], V[6]]
    assert inherited_watermark(V[6], task, splits, {V[0]: 3, V[2]: 9}) == 9
    assert inherited_watermark(V[6], task, splits, {V[0]: 3}) == 3
    assert inherited_watermark(V[6], task, splits, {V[0]: 3, V[6]: 11}) == 11
    assert inherited_watermark(V[6], task, splits, {}) is None
    assert inherited_watermark(V[0], task, splits, {}) is None


def test_where_its_keys_come_from_several_partitions_it_takes_over_the_lowest_watermark() -> None:
    mixed = Split("views", 4, 6, 100.0, Parting.MIXED)
    task = [V[0], V[2], V[4]]
    assert inherited_watermark(V[4], task, [mixed], {V[0]: 5, V[2]: 3}) == 3
    assert inherited_watermark(V[4], task, [mixed], {V[0]: 5}) is None


SETTLE = 4


@settings(max_examples=60)
@given(
    first=st.integers(1, 3),
    growths=st.lists(st.tuples(st.integers(1, 9), st.sampled_from([2, 3])), max_size=3),
    lags=st.lists(st.integers(0, SETTLE - 1), min_size=1, max_size=3),
    seen_late=st.integers(0, 2),
    random=st.randoms(use_true_random=False),
)
def test_a_producers_records_of_a_key_are_read_in_order_across_any_growths(
    first: int, growths: list[tuple[int, int]], lags: list[int], seen_late: int, random: Random
) -> None:
    """Producers go over to a new count one by one; the app reads what is open, at its own pace, to the end."""
    log: dict[Partition, list[tuple[int, int, int]]] = {}
    read: dict[tuple[int, int], list[int]] = {}
    positions: dict[Partition, int] = {}
    history, at = [(0, first)], 0
    for pause, factor in growths:
        at += pause
        history.append((at, history[-1][1] * factor))
    app = formed({"views": first})
    layout = app.layout
    for tick in range(at + 40):
        producing = tick < at + 12
        for producer, lag in enumerate(lags if producing else []):
            count = [count for since, count in history if since + lag <= tick or since == 0][-1]
            for key in range(6):
                log.setdefault(Partition("views", key % count), []).append((producer, key, tick))
        seen = [count for since, count in history if since + seen_late <= tick or since == 0][-1]
        if seen != layout.streams["views"].last:
            app = formed({"views": seen}, layout=layout, now=float(tick))
            layout = app.layout
        ends = {partition: len(records) for partition, records in log.items()}
        splits = [settled(one, ends) if is_due(one, float(tick), SETTLE) else one for one in layout.splits]
        layout = replace(layout, splits=unfinished(splits, positions))
        for task in app.tasks.values():
            for partition in random.sample(task, len(task)):
                if waits(partition, task, layout.splits, positions):
                    continue
                position = positions.get(partition, 0)
                found = log.get(partition, [])[position:]
                taken = found if not producing else found[: random.randint(0, 8)]
                positions[partition] = position + len(taken)
                for producer, key, written in taken:
                    read.setdefault((producer, key), []).append(written)
    assert all(times == sorted(times) for times in read.values())
    assert sum(map(len, read.values())) == sum(map(len, log.values()))

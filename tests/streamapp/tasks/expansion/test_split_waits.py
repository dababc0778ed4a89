from streamapp.tasks.expansion.split_waits import (
    SplitWait,
    split_waits,
    watermark_source,
)
from streamapp.tasks.layouts.split import KeyMovement, Split, is_split_due, settle_split
from streamapp.tasks.partition import Partition

V = [Partition("views", index) for index in range(16)]
GROWN = Split("views", before=2, after=4, seen_at=100.0)


def test_a_split_is_due_when_the_producers_had_time_to_see_the_growth() -> None:
    assert not is_split_due(GROWN, now=399.9, settle=300.0)
    assert is_split_due(GROWN, now=400.0, settle=300.0)
    assert is_split_due(GROWN, now=100.0, settle=0.0)


def test_a_split_is_due_once() -> None:
    assert not is_split_due(settle_split(GROWN, {V[0]: 0, V[1]: 0}), now=1e9, settle=0.0)


def test_until_it_has_settled_new_partitions_wait_for_no_known_position() -> None:
    task = [V[0], V[2]]
    assert split_waits(V[2], task, [GROWN], {V[0]: 10**9}) == (SplitWait(V[0], None),)
    assert split_waits(V[0], task, [GROWN], {}) == ()


def test_a_new_partition_opens_when_the_old_one_of_its_task_has_passed_its_split_offset() -> None:
    split = settle_split(GROWN, {V[0]: 50, V[1]: 90})
    task = [V[0], V[2]]
    assert split_waits(V[2], task, [split], {V[0]: 49}) == (SplitWait(V[0], 50),)
    assert split_waits(V[2], task, [split], {V[0]: 50}) == ()


def test_an_empty_old_partition_keeps_nobody_waiting() -> None:
    assert split_waits(V[2], [V[0], V[2]], [settle_split(GROWN, {V[0]: 0, V[1]: 0})], {}) == ()


def test_growths_chain() -> None:
    first = settle_split(GROWN, {V[0]: 5, V[1]: 5})
    second = settle_split(Split("views", 4, 8, 200.0), {V[0]: 8, V[1]: 8, V[2]: 3, V[3]: 3})
    task = [V[0], V[2], V[4], V[6]]
    assert split_waits(V[6], task, [first, second], {V[0]: 8}) == (SplitWait(V[2], 3),)
    assert split_waits(V[2], task, [first, second], {V[0]: 4}) == (SplitWait(V[0], 5),)
    assert split_waits(V[6], task, [first, second], {V[0]: 8, V[2]: 3}) == ()


def test_partitions_of_another_stream_or_task_are_not_waited_for() -> None:
    other = Partition("clicks", 0)
    assert split_waits(V[2], [other, V[2]], [GROWN], {}) == ()
    assert split_waits(other, [other, V[0]], [GROWN], {}) == ()


def test_a_new_partition_takes_over_the_watermark_of_the_one_it_was_split_from() -> None:
    splits = [GROWN, Split("views", 4, 8, 200.0)]
    task = [V[0], V[2], V[4], V[6]]
    assert watermark_source(V[6], task, splits, {V[0]: 3, V[2]: 9}) == V[2]
    assert watermark_source(V[6], task, splits, {V[0]: 3}) == V[0]
    assert watermark_source(V[6], task, splits, {V[0]: 3, V[2]: None}) == V[2]
    assert watermark_source(V[6], task, splits, {V[0]: 3, V[6]: 11}) == V[6]
    assert watermark_source(V[6], task, splits, {}) is None
    assert watermark_source(V[0], task, splits, {}) is None


def test_where_its_keys_come_from_several_partitions_it_takes_over_the_lowest_watermark() -> None:
    mixed = Split("views", 4, 6, 100.0, KeyMovement.MIXED)
    task = [V[0], V[2], V[4]]
    assert watermark_source(V[4], task, [mixed], {V[0]: 5, V[2]: 3}) == V[2]
    assert watermark_source(V[4], task, [mixed], {V[0]: 5, V[2]: None}) == V[2]
    assert watermark_source(V[4], task, [mixed], {V[0]: 5}) is None

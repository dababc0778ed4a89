from streamapp.tasks.opening import Wait, inherited_watermark, unfinished, waits
from streamapp.tasks.partition import Partition
from streamapp.tasks.split import Parting, Split, is_due, settled

V = [Partition("views", index) for index in range(16)]
GROWN = Split("views", before=2, after=4, seen_at=100.0)


def test_a_split_is_due_when_the_producers_had_time_to_see_the_growth() -> None:
    assert not is_due(GROWN, now=399.9, settle=300.0)
    assert is_due(GROWN, now=400.0, settle=300.0)
    assert is_due(GROWN, now=100.0, settle=0.0)


def test_a_split_is_due_once() -> None:
    assert not is_due(settled(GROWN, {V[0]: 0, V[1]: 0}), now=1e9, settle=0.0)


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
    assert waits(V[2], [V[0], V[2]], [settled(GROWN, {V[0]: 0, V[1]: 0})], {}) == ()


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

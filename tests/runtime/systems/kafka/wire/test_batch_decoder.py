import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.batch_decoder import decode_partitions
from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import read_batches
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from tests.harness.kafka.decoded_batches import Row, decoded, decoded_headers, expected
from tests.harness.kafka.plain_batches import Record, batch

CONTENTS = st.none() | st.binary(max_size=40)


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Those of one batch, as compaction may have left them."""
    numbers = sorted(draw(st.sets(st.integers(0, 200), max_size=6)))
    headers = st.lists(st.tuples(st.binary(max_size=5), CONTENTS), max_size=4)
    return [
        Record(draw(CONTENTS), draw(CONTENTS), number, draw(st.integers(-900, 90_000)), draw(headers))
        for number in numbers
    ]


@given(st.lists(records(), max_size=5))
def test_any_batches_are_read_as_they_were_written(given: list[list[Record]]) -> None:
    data = b"".join(batch(1_000 * place, each) for place, each in enumerate(given))
    assert decoded(data) == [row for place, each in enumerate(given) for row in expected(1_000 * place, each)]
    assert decoded_headers(data) == [
        [(name.decode(errors="replace"), value) for name, value in one.headers]
        for each in given
        for one in each
    ]


@given(given=st.lists(st.lists(records(), max_size=3), max_size=4), chance=st.randoms(use_true_random=False))
def test_the_batches_of_several_partitions_are_read_at_once_in_whatever_order_they_lie(
    given: list[list[list[Record]]], chance: random.Random
) -> None:
    data, partitions = b"", [(0, 0) for _ in given]
    for number in chance.sample(range(len(given)), len(given)):
        written = b"".join(batch(1_000 * place, each) for place, each in enumerate(given[number]))
        partitions[number] = len(data), len(data) + len(written)
        data += written
    octets = np.frombuffer(data + bytes(varints.PADDING), np.uint8)
    headers = [
        [one for one in read_batches(octets, begin, end, check=True) if one.count]
        for begin, end in partitions
    ]
    rows = [
        [tuple(row.values()) for part in parts for row in part.to_pylist()]
        for parts in decode_partitions(octets, headers)
    ]
    assert rows == [
        [row for place, each in enumerate(batches) for row in expected(1_000 * place, each)]
        for batches in given
    ]


def test_batches_of_one_partition_that_are_not_in_order_are_refused() -> None:
    one = batch(0, [Record(None, b"a", 0, 0), Record(None, b"b", 1, 0)])
    with pytest.raises(MalformedError, match="not in order"):
        decoded(one + batch(1, [Record(None, b"c", 0, 0)]))


def sizes_alike(random: random.Random) -> int:
    return random.randrange(90, 110)


def sizes_far_apart(random: random.Random) -> int:
    return int(10 ** random.uniform(0, 3.6))


def some_very_large(random: random.Random) -> int:
    return 60_000 if random.random() < 0.001 else 20


def mostly_empty(random: random.Random) -> int:
    return random.choice([0, 0, 0, 1])


def many(seed: int, size: Callable[[random.Random], int], content: Callable[[int], bytes]) -> list[Record]:
    chance = random.Random(seed)  # noqa: S311
    return [
        Record(
            chance.choice([None, b"", content(size(chance))[:20]]),
            chance.choice([None, *[content(size(chance))] * 5]),
            number,
            number // 7,
        )
        for number in range(3_000)
    ]


def check_many(each: list[list[Record]]) -> None:
    written, wanted, base = b"", list[Row](), 0
    for one in each:
        written += batch(base, one)
        wanted += expected(base, one)
        base += one[-1].number + 1
    assert decoded(written, check=False) == wanted


@pytest.mark.parametrize("size", [sizes_alike, sizes_far_apart, some_very_large, mostly_empty])
@pytest.mark.parametrize("content", [random.Random(1).randbytes, bytes, b"x".__mul__])  # noqa: S311
@pytest.mark.parametrize("seed", range(2))
def test_many_records_are_read_as_they_were_written(
    seed: int, size: Callable[[random.Random], int], content: Callable[[int], bytes]
) -> None:
    check_many([many(seed, size, content), many(seed + 10, size, content)[:700]])


def test_values_that_look_like_records_do_not_mislead() -> None:
    inner = batch(0, [Record(b"k", b"v" * 50, number) for number in range(20)])
    check_many([[Record(None, inner[61:], number) for number in range(2_000)]])


def test_batches_with_holes_are_read_in_step_with_others() -> None:
    given = many(3, sizes_alike, b"y".__mul__)
    check_many([given, [one for one in given if one.number % 3], given[:5], given[7:]])

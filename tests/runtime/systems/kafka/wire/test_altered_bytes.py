import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format.batch_headers import CHECKED_FROM
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from tests.harness.kafka.decoded_batches import decoded, decoded_headers
from tests.harness.kafka.plain_batches import Record, batch

RECORDS = [
    Record(b"key", b"value" * number, number, number, [(b"name", b"content")] * (number % 3))
    for number in range(20)
]
FIRST = batch(0, RECORDS)
DATA = FIRST + batch(20, RECORDS)
ROWS = decoded(DATA)
LARGE = batch(0, [Record(b"k%d" % number, b"value" * 10, number) for number in range(2_000)])
LARGE_ROWS = decoded(LARGE, check=False)


@given(st.integers(0, len(DATA)))
def test_of_bytes_that_were_cut_the_whole_batches_are_read(size: int) -> None:
    whole = 0 if size < len(FIRST) else 20 if size < len(DATA) else 40
    assert decoded(DATA[:size]) == ROWS[:whole]


@given(st.integers(CHECKED_FROM - 4, len(FIRST) - 1), st.integers(1, 255))
def test_a_byte_that_was_altered_is_found_by_the_checksum(place: int, change: int) -> None:
    data = bytearray(DATA)
    data[place] ^= change
    with pytest.raises(MalformedError):
        decoded(bytes(data))


@given(st.data())
def test_altered_heads_and_records_are_read_or_refused_even_without_a_checksum(data: st.DataObject) -> None:
    altered = bytearray(DATA)
    for place in data.draw(st.lists(st.integers(0, len(DATA) - 1), min_size=1, max_size=8)):
        altered[place] = data.draw(st.integers(0, 255))
    with suppress(MalformedError):
        decoded(bytes(altered), check=False)
    with suppress(MalformedError):
        decoded_headers(bytes(altered), check=False)


@given(st.integers(0, 1 << 32))
def test_altered_records_that_are_walked_in_step_are_read_or_refused(seed: int) -> None:
    chance, altered = random.Random(seed), bytearray(LARGE)  # noqa: S311
    for _ in range(chance.randrange(1, 5)):
        altered[chance.randrange(61, len(LARGE))] = chance.choice([0, 1, 2, 0x7F, 0x80, 0xFF])
    try:
        found = decoded(bytes(altered), check=False)
    except MalformedError:
        return
    assert len(found) == len(LARGE_ROWS)

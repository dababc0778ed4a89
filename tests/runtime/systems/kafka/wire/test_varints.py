import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format import varints
from streamapp_runtime.systems.kafka.wire.batch_format.malformed import MalformedError
from tests.harness.kafka.plain_batches import number

NUMBERS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-100, 10_000), max_size=30)


@given(NUMBERS)
def test_numbers_are_read_as_they_were_written(given: list[int]) -> None:
    written = [number(value) for value in given]
    octets = np.frombuffer(b"".join(written) + bytes(varints.PADDING), np.uint8)
    ends = np.cumsum([len(one) for one in written], dtype=np.int64)
    begins = np.append(0, ends[:-1]).astype(np.int64)[: len(given)]
    values, after = varints.read_varints(octets, begins)
    assert values.tolist() == given
    assert after.tolist() == ends.tolist()


@given(NUMBERS)
def test_a_number_takes_as_many_bytes_as_are_said(given: list[int]) -> None:
    assert varints.varint_sizes(np.array(given, np.int64)).tolist() == [len(number(value)) for value in given]


def test_a_number_without_an_end_is_refused() -> None:
    octets = np.full(varints.PADDING, 0x80, np.uint8)
    with pytest.raises(MalformedError):
        varints.read_varints(octets, np.array([0, 1]))

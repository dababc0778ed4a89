import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.systems.kafka.wire.batch_format.crc32c import crc32c
from tests.kafka.wire.plain_batches import checksum


def octets(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def test_the_checksum_of_nine_digits_is_the_published_one() -> None:
    assert crc32c(octets(b"123456789")) == 0xE3069283


@given(st.binary(min_size=4, max_size=200))
def test_a_checksum_is_the_one_made_byte_by_byte(data: bytes) -> None:
    assert crc32c(octets(data)) == checksum(data)


# Around where bytes, then words begin to be folded, and far beyond.
@pytest.mark.parametrize("size", [5684, 5685, 5686, 10_008, 45_479, 45_480, 45_481, 45_488, 80_003, 150_001])
def test_long_data_has_the_same_checksum_as_byte_by_byte(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    assert crc32c(data) == checksum(data.tobytes())

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.kafka.plain_batches import checksum


def octets(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8)


def test_the_library_is_the_compiled_one_and_not_its_slow_stand_in() -> None:
    assert google_crc32c.implementation == "c"


def test_the_checksum_of_nine_digits_is_the_published_one() -> None:
    assert google_crc32c.value(octets(b"123456789")) == 0xE3069283


@given(st.binary(max_size=200))
def test_a_checksum_is_the_one_made_byte_by_byte(data: bytes) -> None:
    assert google_crc32c.value(octets(data)) == checksum(data)


# Around where the library goes from single words to three streams side by side, and far beyond.
@pytest.mark.parametrize(
    "size", [1023, 1024, 1025, 5684, 5685, 5686, 10_008, 45_479, 45_480, 45_481, 45_488, 80_003, 150_001]
)
def test_long_data_has_the_same_checksum_as_byte_by_byte(size: int) -> None:
    data = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    assert google_crc32c.value(data) == checksum(data.tobytes())


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_the_checksum_of_two_parts_is_that_of_the_whole(head: bytes, records: bytes) -> None:
    whole = google_crc32c.extend(google_crc32c.value(octets(head)), octets(records))
    assert whole == checksum(head + records)

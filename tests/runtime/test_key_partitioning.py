from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp_runtime.key_partitioning import key_hashes, partition_of

KEYS = st.lists(st.none() | st.binary(max_size=9) | st.binary(min_size=20, max_size=70))


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_hashes_are_those_that_java_producers_compute(key: str, wanted: int) -> None:
    assert key_hashes(pa.array([key])).view(np.int32).tolist() == [wanted]


@given(keys=KEYS, count=st.integers(1, 300), start=st.integers(0, 299), skipped=st.integers(0, 3))
def test_keys_go_by_their_hash_and_null_keys_take_turns(
    keys: list[bytes | None], count: int, start: int, skipped: int
) -> None:
    found = partition_of(pa.array(keys, pa.binary()).slice(skipped), count, start).tolist()
    turns = iter(range(start, start + len(keys)))
    assert found == [
        next(turns) % count if key is None else (one_hash(key) & 0x7FFFFFFF) % count for key in keys[skipped:]
    ]


@given(keys=KEYS, count=st.integers(1, 300), start=st.integers(0, 299), skipped=st.integers(0, 3))
def test_keys_of_librdkafka_go_by_their_crc(
    keys: list[bytes | None], count: int, start: int, skipped: int
) -> None:
    found = partition_of(pa.array(keys, pa.binary()).slice(skipped), count, start, partitioner="crc32")
    turns = iter(range(start, start + len(keys)))
    assert found.tolist() == [
        next(turns) % count if key is None else crc32(key) % count for key in keys[skipped:]
    ]


@given(keys=KEYS, count=st.integers(1, 300))
def test_null_keys_of_a_repartition_are_all_put_into_one_partition(
    keys: list[bytes | None], count: int
) -> None:
    places = partition_of(pa.array(keys, pa.binary()), count, nulls_together=True).tolist()
    assert {place for key, place in zip(keys, places, strict=True) if key is None} <= {0}
    with_key = pa.array([key for key in keys if key is not None], pa.binary())
    assert [place for key, place in zip(keys, places, strict=True) if key is not None] == partition_of(
        with_key, count
    ).tolist()


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()])
def test_texts_go_where_their_bytes_go(kind: pa.DataType) -> None:
    keys = pa.array(["é", "", "user-1"]).cast(kind)
    wanted = [(one_hash(key.encode()) & 0x7FFFFFFF) % 7 for key in ("é", "", "user-1")]
    assert partition_of(keys, 7).tolist() == wanted


def one_hash(key: bytes) -> int:
    """Murmur2 of one key, a byte after the other, on Python's own integers."""
    mask, multiplier = 0xFFFFFFFF, 0x5BD1E995
    value = (0x9747B28C ^ len(key)) & mask
    whole = len(key) // 4 * 4
    for at in range(0, whole, 4):
        word = int.from_bytes(key[at : at + 4], "little") * multiplier & mask
        word = (word ^ word >> 24) * multiplier & mask
        value = value * multiplier & mask ^ word
    if whole < len(key):
        value = (value ^ int.from_bytes(key[whole:], "little")) * multiplier & mask
    value = (value ^ value >> 13) * multiplier & mask
    return value ^ value >> 15

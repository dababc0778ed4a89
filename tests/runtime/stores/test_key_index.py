"""Keys are found at the places where they were added, and nothing else is."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp_runtime.stores.engines.key_hash import Hashes, hash_keys
from streamapp_runtime.stores.engines.key_index import KeyIndex
from tests.harness.engine.opened_stores import binary

KEYS = st.one_of(
    st.binary(max_size=3),
    st.binary(max_size=40),
    st.binary(min_size=250, max_size=300),
    st.integers(0, 3_000).map(lambda n: b"user-%d" % n),
)


@settings(deadline=None)
@given(st.lists(st.lists(KEYS, max_size=60), max_size=6), st.lists(KEYS, max_size=60))
def test_keys_are_found_where_they_were_added(added: list[list[bytes]], asked: list[bytes]) -> None:
    index, places = KeyIndex(), dict[bytes, int]()
    for keys in added:
        fresh = [key for key in dict.fromkeys(keys) if key not in places]
        places |= {key: len(places) + number for number, key in enumerate(fresh)}
        index.add(binary(*fresh))
        assert index.find(binary(*asked)).tolist() == [places.get(key, -1) for key in asked]
    assert index.find(binary(*places)).tolist() == list(places.values())


def test_an_index_grows_and_finds_keys_in_slices() -> None:
    index = KeyIndex()
    keys = pa.array([b"%d" % number for number in range(50_000)], pa.binary())
    for start in range(0, 50_000, 7_000):
        index.add(keys[start : start + 7_000])
    assert (index.find(keys[123:]) == np.arange(123, 50_000)).all()
    assert (index.find(pa.array([b"x%d" % number for number in range(999)], pa.binary())) == -1).all()


def test_keys_of_one_hash_are_told_apart() -> None:
    seeds = iter([0, 0, 5])

    def hashed(keys: pa.BinaryArray, seed: int) -> Hashes:
        return hash_keys(keys, seed) if seed else np.full(len(keys), 7, np.uint64)

    index = KeyIndex(hashed, lambda: next(seeds))
    index.add(binary(b"a", b"b", b"c"))
    assert index.find(binary(b"c", b"b", b"a", b"d")).tolist() == [2, 1, 0, -1]


@given(st.lists(KEYS, max_size=30), st.integers(0, 2**64 - 1))
def test_a_hash_depends_on_the_key_and_the_seed_only(keys: list[bytes], seed: int) -> None:
    alone = [int(hash_keys(binary(key), seed)[0]) for key in keys]
    assert hash_keys(binary(b"x", *keys)[1:], seed).tolist() == alone


def test_keys_that_differ_in_the_highest_bits_of_two_words_do_not_fall_together() -> None:
    one = bytes(16)
    others = [bytes([0] * 7 + [128] + [0] * 3 + [byte] + [0] * 3 + [128]) for byte in range(256)]
    found = hash_keys(binary(one, *others), seed=99)
    assert len(set(found.tolist())) == 257

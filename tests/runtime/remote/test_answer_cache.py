"""A cache knows the newest answers, none that is too old, and no more than it may."""

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from streamapp_runtime.remote.answer_cache import AnswerCache

TTL = 10.0
puts = st.dictionaries(st.integers(0, 30), st.none() | st.binary(max_size=3), max_size=12)
steps = st.lists(st.tuples(st.sampled_from(["put", "find"]), puts, st.integers(0, 6)), max_size=30)


def key(number: int) -> bytes:
    return b"key %d" % number


ONE: dict[int, bytes | None] = {0: None}
NO_ROOM_FOR_THE_NEWEST = [("put", ONE, 0), ("put", ONE, 1), ("put", {**ONE, 1: None}, 0), ("find", ONE, 0)]


@given(st.integers(1, 20), steps)
@example(1, NO_ROOM_FOR_THE_NEWEST)
def test_what_a_cache_knows_is_the_newest_answer_and_not_too_old(size: int, done: list) -> None:
    cache = AnswerCache(size, TTL)
    newest: dict[int, tuple[bytes | None, float]] = {}
    now = 0.0
    for what, entries, seconds in done:
        now += seconds
        keys = pa.array([key(n) for n in entries], pa.binary())
        if what == "put":
            cache.put(keys, pa.array(entries.values(), pa.binary()), np.full(len(entries), now))
            newest |= {n: (value, now) for n, value in entries.items()}
        else:
            known = cache.find(keys, now)
            values = known.values.to_pylist()
            for place, n in enumerate(entries):
                if known.is_known[place]:
                    assert (values[place], known.answered_at[place]) == newest[n]
                    assert now - newest[n][1] <= TTL
        assert len(cache) <= 2 * ((size + 1) // 2)


@given(puts)
def test_what_fits_is_known_as_long_as_it_is_good(entries: dict[int, bytes | None]) -> None:
    cache = AnswerCache(2 * len(entries), TTL)
    keys = pa.array([key(n) for n in entries], pa.binary())
    cache.put(keys, pa.array(entries.values(), pa.binary()), np.zeros(len(entries)))
    known = cache.find(keys, TTL)
    assert known.is_known.all()
    assert known.values.to_pylist() == list(entries.values())
    assert not cache.find(keys, TTL + 0.1).is_known.any()


def test_what_is_asked_for_all_the_time_outlives_what_is_not() -> None:
    cache = AnswerCache(8, TTL)
    often = pa.array([b"often"])
    cache.put(often, pa.array([b"1"]), np.zeros(1))
    for number in range(100):
        cache.put(pa.array([key(number)]), pa.array([b"2"]), np.zeros(1))
        assert cache.find(often, 0.0).is_known.all()
    assert not cache.find(pa.array([key(0)]), 0.0).is_known.any()


def test_a_cache_of_no_size_knows_nothing() -> None:
    cache = AnswerCache(0, TTL)
    cache.put(pa.array([b"a"]), pa.array([b"1"]), np.zeros(1))
    assert not cache.find(pa.array([b"a"]), 0.0).is_known.any()

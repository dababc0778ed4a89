"""What holds for every store, whatever keeps it."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from streamapp_runtime.stores.store import PendingWritesError, Store, StoreKind
from tests.harness.engine.opened_stores import KINDS, binary, held, mark, opened, put


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = opened(StoreKind(request.param), tmp_path / "users")
    yield store
    store.close()


def test_a_new_store_has_no_mark_and_no_entry(store: Store) -> None:
    assert store.mark is None
    assert held(store) == {}
    assert store.count() == 0


def test_values_come_in_the_order_of_the_keys_asked_for(store: Store) -> None:
    put(store, {b"a": b"1", b"b": b"2"})
    assert store.get(binary(b"b", b"x", b"a", b"b")).to_pylist() == [b"2", None, b"1", b"2"]


def test_a_null_key_has_no_value_and_cannot_be_written(store: Store) -> None:
    put(store, {b"a": b"1"})
    assert store.get(binary(None, b"a")).to_pylist() == [None, b"1"]
    with pytest.raises(ValueError, match="null key"):
        store.put(binary(None), binary(b"1"))


def test_an_empty_batch_is_read_and_written(store: Store) -> None:
    store.put(binary(), binary())
    assert store.get(binary()).to_pylist() == []


def test_an_empty_value_is_a_value(store: Store) -> None:
    put(store, {b"a": b""})
    store.apply(mark(1))
    assert store.get(binary(b"a")).to_pylist() == [b""]
    assert held(store) == {b"a": b""}


def test_large_and_sliced_columns_are_taken(store: Store) -> None:
    keys = pa.array([b"x", b"a", b"b"], pa.large_binary())[1:]
    store.put(keys, pa.array([b"x", b"1", b"2"], pa.large_binary())[1:])
    assert store.get(keys).to_pylist() == [b"1", b"2"]


def test_of_a_key_that_is_written_several_times_the_last_counts(store: Store) -> None:
    store.put(binary(b"a", b"b", b"a", b"b"), binary(b"1", b"2", None, b"3"))
    assert held(store) == {b"b": b"3"}


def test_pending_writes_are_seen_and_can_be_dropped(store: Store) -> None:
    put(store, {b"a": b"1", b"b": b"2"})
    store.apply(mark(1))
    put(store, {b"a": None, b"b": b"3", b"c": b"4"})
    assert store.get(binary(b"a", b"b", b"c")).to_pylist() == [None, b"3", b"4"]
    assert held(store) == {b"b": b"3", b"c": b"4"}
    store.drop()
    assert store.get(binary(b"a", b"b", b"c")).to_pylist() == [b"1", b"2", None]
    assert held(store) == {b"a": b"1", b"b": b"2"}
    assert store.mark == mark(1)


def test_applied_writes_outlive_a_drop_and_carry_the_mark(store: Store) -> None:
    put(store, {b"a": b"1"})
    put(store, {b"a": b"2", b"b": b"3"})
    store.apply(mark(7))
    store.drop()
    assert held(store) == {b"a": b"2", b"b": b"3"}
    assert store.mark == mark(7)


def test_a_mark_is_applied_without_writes_too(store: Store) -> None:
    store.apply(mark(3))
    assert store.mark == mark(3)


def test_a_range_has_its_start_and_lacks_its_end(store: Store) -> None:
    put(store, {bytes([n]): b"" for n in range(9)})
    store.apply(mark(1))
    put(store, {b"\x03": None, b"\x05\x01": b"new"})
    keys = [key for key, _ in store.scan(b"\x02", b"\x06")]
    assert keys == [b"\x02", b"\x04", b"\x05", b"\x05\x01"]
    assert list(store.scan(b"\x06", b"\x06")) == []
    assert list(store.scan(b"\x09")) == []


def test_a_range_as_columns_has_the_same_entries(store: Store) -> None:
    put(store, {b"%05d" % n: b"%d" % n for n in range(20_000)})
    store.apply(mark(1))
    put(store, {b"%05d" % n: None for n in range(0, 20_000, 3)})
    batches = list(store.batches(b"00100", b"19000"))
    columns = [
        entry for keys, values in batches for entry in zip(keys.to_pylist(), values.to_pylist(), strict=True)
    ]
    assert columns == list(store.scan(b"00100", b"19000"))
    assert len(columns) == 12_600
    assert max(len(keys) for keys, _ in batches) < 10_000


def test_a_scan_goes_on_while_the_store_is_written(store: Store) -> None:
    expected = {b"%05d" % n: b"old" for n in range(1_000)}
    put(store, expected)
    store.apply(mark(1))
    seen = []
    for key, _ in store.scan():
        seen.append(key)
        if len(seen) % 100 == 0:
            put(store, {key: b"new"})
            store.apply(mark(len(seen)))
    assert seen == sorted(expected)


@pytest.mark.parametrize("length", [0, 510, 511, 512, 513, 5_000])
def test_keys_of_any_length_keep_their_order(store: Store, length: int) -> None:
    keys = [b"x" * length, b"x" * length + b"\0", b"x" * max(0, length - 1) + b"y", b"a", b"z"]
    put(store, dict.fromkeys(keys, b"1"))
    store.apply(mark(1))
    put(store, {keys[1]: None, keys[2]: b"2"})
    left = sorted(set(keys) - {keys[1]})
    assert [key for key, _ in store.scan()] == left
    assert [key for key, _ in store.scan(keys[1], b"z")] == [key for key in left if keys[1] <= key < b"z"]
    assert store.get(binary(*keys)).to_pylist() == [b"1", None, b"2", b"1", b"1"]
    store.apply(mark(2))
    assert store.get(binary(*keys)).to_pylist() == [b"1", None, b"2", b"1", b"1"]


def test_loaded_entries_need_no_apply_and_are_not_dropped(store: Store) -> None:
    put(store, {b"a": b"1"})
    store.apply(mark(1))
    store.load(binary(b"a", b"b", b"c", b"c"), binary(b"2", b"3", b"4", None))
    store.drop()
    assert held(store) == {b"a": b"2", b"b": b"3"}
    assert store.get(binary(b"a", b"c")).to_pylist() == [b"2", None]
    store.set_mark(mark(9))
    assert store.mark == mark(9)


def test_what_would_go_past_pending_writes_is_refused(store: Store) -> None:
    put(store, {b"a": b"1"})
    with pytest.raises(PendingWritesError):
        store.load(binary(b"b"), binary(b"2"))
    with pytest.raises(PendingWritesError):
        store.set_mark(mark(1))
    store.apply(mark(2))
    assert held(store) == {b"a": b"1"}


def test_count_and_size_follow_what_is_written(store: Store) -> None:
    put(store, {b"%05d" % n: b"x" * 100 for n in range(3_000)})
    store.apply(mark(1))
    assert store.count() == 3_000
    assert store.size_bytes() > 200_000


def test_closing_twice_is_closing(store: Store) -> None:
    put(store, {b"a": b"1"})
    store.close()
    store.close()

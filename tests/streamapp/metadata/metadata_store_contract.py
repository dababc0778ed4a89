"""What every metadata store must do. A new form of it inherits this and says how it is opened."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamapp.metadata.metadata_store import MetadataStore
from tests.harness.machine.random_cases import share

KEYS = st.binary(max_size=3) | st.sampled_from([b"", b"a/b", b"..", b"\0", b"\xff\xfe", b"x" * 300])
VALUES = st.binary(max_size=20)
ENTRIES = st.dictionaries(KEYS, VALUES, max_size=4)
CHANGES = st.lists(KEYS | ENTRIES, max_size=12)


class StoreContract:
    """Override `fresh`: a fixture that gives a function, each call of which opens another, empty store."""

    examples = 0.5  # of those of the profile

    @pytest.fixture
    def fresh(self) -> Callable[[], MetadataStore]:
        raise NotImplementedError

    @pytest.fixture
    def store(self, fresh: Callable[[], MetadataStore]) -> MetadataStore:
        return fresh()

    def test_a_new_store_is_empty(self, store: MetadataStore) -> None:
        assert store.all() == {}

    def test_a_key_that_was_never_put_has_no_value(self, store: MetadataStore) -> None:
        assert store.get(b"key") is None

    def test_a_value_is_found_under_its_key_and_no_other(self, store: MetadataStore) -> None:
        store.put(b"key", b"value")
        assert store.get(b"key") == b"value"
        assert store.get(b"ke") is None

    def test_an_empty_value_is_a_value(self, store: MetadataStore) -> None:
        store.put(b"key", b"")
        assert store.get(b"key") == b""
        assert store.all() == {b"key": b""}

    def test_the_last_value_counts(self, store: MetadataStore) -> None:
        store.put(b"key", b"old")
        store.put(b"key", b"new")
        assert store.get(b"key") == b"new"

    def test_many_are_put_at_once_and_the_others_stay(self, store: MetadataStore) -> None:
        store.put_all({b"a": b"1", b"b": b"1"})
        store.put_all({b"b": b"2", b"c": b"2"})
        store.put_all({})
        assert store.all() == {b"a": b"1", b"b": b"2", b"c": b"2"}

    def test_a_removed_key_has_no_value(self, store: MetadataStore) -> None:
        store.put_all({b"a": b"1", b"b": b"1"})
        store.remove(b"a")
        assert store.get(b"a") is None
        assert store.all() == {b"b": b"1"}

    def test_removing_what_is_not_there_is_no_error(self, store: MetadataStore) -> None:
        store.remove(b"a")
        store.remove(b"a")
        assert store.all() == {}

    def test_the_map_that_all_gives_is_a_snapshot_and_the_callers_own(self, store: MetadataStore) -> None:
        store.put(b"key", b"value")
        before = store.all()
        store.put(b"key", b"later")
        assert before == {b"key": b"value"}
        before.clear()
        assert store.all() == {b"key": b"later"}

    @pytest.mark.parametrize("key", [b"", b"/", b"a/b", b"..", b"\0", b"\n", b"\xff\xfe", b"a" * 1_000])
    def test_any_bytes_can_be_a_key(self, store: MetadataStore, key: bytes) -> None:
        store.put_all({key: b"value", b"other": b""})
        assert store.get(key) == b"value"
        store.remove(key)
        assert store.all() == {b"other": b""}

    def test_values_of_all_bytes_and_of_a_hundred_kilobytes_come_back(self, store: MetadataStore) -> None:
        large = bytes(range(256)) * 400
        store.put(b"key", large)
        assert store.get(b"key") == large

    def test_a_store_agrees_with_a_dictionary_after_any_changes(
        self, fresh: Callable[[], MetadataStore]
    ) -> None:
        @settings(
            max_examples=share(self.examples), suppress_health_check=[HealthCheck.too_slow], deadline=None
        )
        @given(CHANGES)
        def agrees(changes: list[bytes | dict[bytes, bytes]]) -> None:
            store, oracle = fresh(), dict[bytes, bytes]()
            for change in changes:
                if isinstance(change, bytes):
                    store.remove(change)
                    oracle.pop(change, None)
                else:
                    store.put_all(change)
                    oracle.update(change)
                assert store.all() == oracle
                assert {key: store.get(key) for key in oracle} == oracle

        agrees()

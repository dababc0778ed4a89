from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.metadata.entries_codec import LocalityUnreadableError
from streamapp.metadata.locality_manager import LocalityManager, pack_locality, unpack_locality
from streamapp.placement.locations.store_history import StoreHistory, StorePlace
from tests.harness.core.memory_metadata_store import MemoryMetadataStore

LOCALITY = {"Partition 0": "node-a", "Partition 1": "node-b", "Partition 2": None}
HISTORY = StoreHistory({"Partition 0": (StorePlace("node-a", 7, 90), StorePlace("node-b", 5, 80))})
RUN_IDS = st.text(max_size=4) | st.sampled_from(["", "a", "a/b", "task-locality/", "run-1"])
LOCALITIES = st.dictionaries(st.text(max_size=8), st.none() | st.text(max_size=4))


class CountingStore(MemoryMetadataStore):
    writes = 0

    def put(self, key: bytes, value: bytes) -> None:
        self.writes += 1
        super().put(key, value)


def test_a_run_that_has_left_nothing_knows_nothing() -> None:
    memory = LocalityManager(MemoryMetadataStore(), "run-1")
    assert memory.read_task_locality() == {}
    assert memory.read_processor_locality() == {}
    assert memory.read_layout() is None


def test_each_kind_comes_back_as_it_was_written() -> None:
    store = MemoryMetadataStore()
    writer = LocalityManager(store, "run-1")
    assert writer.write_task_locality(LOCALITY)
    assert writer.write_processor_locality({"0": "node-a", "1": None})
    assert writer.write_layout(b"\0layout")
    reader = LocalityManager(store, "run-1")
    assert reader.read_task_locality() == LOCALITY
    assert reader.read_processor_locality() == {"0": "node-a", "1": None}
    assert reader.read_layout() == b"\0layout"


def test_where_stores_lie_comes_back_and_is_written_only_where_it_changes() -> None:
    store = CountingStore()
    memory = LocalityManager(store, "run-1")
    assert memory.read_store_history() == StoreHistory()
    assert memory.write_store_history(HISTORY)
    assert not memory.write_store_history(HISTORY)
    assert store.writes == 1
    assert LocalityManager(store, "run-1").read_store_history() == HISTORY
    assert LocalityManager(store, "run-2").read_store_history() == StoreHistory()
    assert LocalityManager(store, "run-2").forget_other_runs() == 1
    assert memory.read_store_history() == StoreHistory()


def test_a_store_history_that_cannot_be_read_is_empty_and_written_over() -> None:
    store = MemoryMetadataStore()
    memory = LocalityManager(store, "run-1")
    memory.write_store_history(HISTORY)
    (key,) = store.all()
    store.put(key, b"damaged")
    assert memory.read_store_history() == StoreHistory()
    assert memory.write_store_history(HISTORY)
    assert memory.read_store_history() == HISTORY


def test_what_another_run_has_left_is_not_seen() -> None:
    store = MemoryMetadataStore()
    first = LocalityManager(store, "run-1")
    first.write_task_locality(LOCALITY)
    first.write_layout(b"layout")
    second = LocalityManager(store, "run-2")
    assert second.read_task_locality() == {}
    assert second.read_layout() is None
    second.write_task_locality({})
    assert first.read_task_locality() == LOCALITY


def test_a_write_replaces_all_that_was_known_before() -> None:
    memory = LocalityManager(MemoryMetadataStore(), "run-1")
    memory.write_task_locality(LOCALITY)
    memory.write_task_locality({"Partition 0": "node-c"})
    assert memory.read_task_locality() == {"Partition 0": "node-c"}


def test_nothing_is_written_where_nothing_changed() -> None:
    store = CountingStore()
    for expected in (3, 3):
        memory = LocalityManager(store, "run-1")
        written = [
            memory.write_task_locality(LOCALITY),
            memory.write_processor_locality({"0": "node-a"}),
            memory.write_layout(b"layout"),
        ]
        assert store.writes == expected
    assert written == [False, False, False]
    assert memory.write_task_locality(LOCALITY | {"Partition 2": "node-a"})
    assert store.writes == 4


def test_knowing_of_nobody_is_not_the_same_as_never_having_written() -> None:
    store = CountingStore()
    memory = LocalityManager(store, "run-1")
    assert memory.write_task_locality({})
    assert not memory.write_task_locality({})


def test_damaged_locality_is_refused_by_readers_and_written_over_by_writers() -> None:
    store = MemoryMetadataStore()
    memory = LocalityManager(store, "run-1")
    memory.write_task_locality(LOCALITY)
    ((key, sound),) = store.all().items()
    store.put(key, sound[:-1])
    with pytest.raises(LocalityUnreadableError):
        memory.read_task_locality()
    assert memory.write_task_locality(LOCALITY)
    assert memory.read_task_locality() == LOCALITY


def test_other_runs_can_be_forgotten_and_this_one_and_foreign_keys_stay() -> None:
    store = MemoryMetadataStore()
    store.put(b"checkpoint", b"not mine")
    for run in ("run-1", "run-2", "run-10"):
        LocalityManager(store, run).write_task_locality(LOCALITY)
        LocalityManager(store, run).write_layout(b"layout")
    mine = LocalityManager(store, "run-1")
    assert mine.forget_other_runs() == 4
    assert mine.read_task_locality() == LOCALITY
    assert mine.read_layout() == b"layout"
    assert store.get(b"checkpoint") == b"not mine"
    assert len(store.all()) == 3


@given(st.dictionaries(RUN_IDS, st.tuples(LOCALITIES, LOCALITIES, st.binary(max_size=3))))
def test_runs_of_any_names_keep_apart(
    runs: Mapping[str, tuple[dict[str, str | None], dict[str, str | None], bytes]],
) -> None:
    store = MemoryMetadataStore()
    for run, (tasks, processors, layout) in runs.items():
        memory = LocalityManager(store, run)
        memory.write_task_locality(tasks)
        memory.write_processor_locality(processors)
        memory.write_layout(layout)
    for run, (tasks, processors, layout) in runs.items():
        memory = LocalityManager(store, run)
        assert memory.read_task_locality() == tasks
        assert memory.read_processor_locality() == processors
        assert memory.read_layout() == layout


def test_the_locality_of_a_hundred_thousand_tasks_on_a_thousand_nodes_stays_under_250_kilobytes() -> None:
    locality = {
        f"Partition {number}": f"node-{number * number * 31 % 7919 % 1000}" for number in range(100_000)
    }
    assert len(pack_locality(locality)) < 250_000
    assert unpack_locality(pack_locality(locality)) == locality


def test_any_cut_and_any_changed_byte_of_a_packed_locality_is_refused() -> None:
    sound = pack_locality(LOCALITY)
    for place in range(len(sound)):
        for damaged in (sound[:place], sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :]):
            with pytest.raises(LocalityUnreadableError):
                unpack_locality(damaged)

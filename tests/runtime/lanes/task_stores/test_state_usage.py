"""What workers measure of their stores, and how often."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from streamapp_runtime.lanes.protocol.lane_levels import (
    MEMORY_BYTES,
    STATE_BYTES,
    STATE_ENTRIES,
    VOLUME_BYTES,
    VOLUME_FREE,
)
from streamapp_runtime.lanes.task_stores.state_usage import (
    FRESH_SECONDS,
    MOST_SHARE,
    StateUsage,
    full_store_message,
)
from streamapp_runtime.stores.store import Store, StoreKind
from tests.harness.engine.opened_stores import ON_DISK, mark, opened, put


@dataclass(slots=True)
class SlowClock:
    """A clock by which each look takes so long."""

    look: float
    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds

    def stores(self, *stores: Store) -> Iterator[tuple[str, Store]]:
        self.seconds += self.look
        for store in stores:
            yield "users", store


@pytest.mark.parametrize("kind", ON_DISK)
def test_entries_and_bytes_are_those_of_all_stores_of_a_table(kind: StoreKind, tmp_path: Path) -> None:
    stores = [opened(kind, tmp_path / name) for name in ("a", "b")]
    for number, store in enumerate(stores):
        put(store, {b"%d" % key: b"value" for key in range(3 + number)})
        store.apply(mark(1))
    levels = {
        (level, table): number
        for level, table, number in StateUsage(tmp_path).levels(("users", store) for store in stores)
    }
    assert levels[STATE_ENTRIES, "users"] == 7
    assert levels[STATE_BYTES, "users"] == sum(store.size_bytes() for store in stores) > 0
    assert levels[VOLUME_BYTES, ""] == shutil.disk_usage(tmp_path).total
    assert 0 < levels[VOLUME_FREE, ""] <= levels[VOLUME_BYTES, ""]
    for store in stores:
        store.close()


def test_without_stores_on_disk_nothing_is_said_of_a_volume(tmp_path: Path) -> None:
    ((level, _, size),) = StateUsage(tmp_path).levels(())
    assert level == MEMORY_BYTES
    assert size > 2**20


@pytest.mark.parametrize(("look", "apart"), [(0.001, FRESH_SECONDS), (1.0, 1.0 / MOST_SHARE)])
def test_stores_are_looked_at_no_more_often_than_their_number_allows(
    tmp_path: Path, look: float, apart: float
) -> None:
    clock = SlowClock(look)
    usage, store = StateUsage(tmp_path, clock), opened(StoreKind.LMDB, tmp_path / "store")
    assert list(usage.levels(clock.stores(store)))
    clock.seconds += apart * 0.99
    assert list(usage.levels(clock.stores(store))) == []
    clock.seconds += apart * 0.02
    assert list(usage.levels(clock.stores(store)))
    store.close()


def test_a_store_without_room_is_reported_with_its_machine_and_its_volume(tmp_path: Path) -> None:
    message = full_store_message("no room to write to users", "processor-3", tmp_path)
    assert message.startswith("processor-3 on ")
    assert "no room to write to users" in message
    assert f"MiB of the volume of {tmp_path} are free" in message
    is_short = shutil.disk_usage(tmp_path).free < shutil.disk_usage(tmp_path).total * 0.05
    assert message.endswith("enlarge the volume") is is_short

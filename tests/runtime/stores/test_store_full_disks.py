"""Where there is no room a batch is refused, and what was applied before stays."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from streamapp_runtime.stores.store import StoreFullError, StoreKind
from tests.harness.child_processes import store_filler
from tests.harness.engine.opened_stores import ON_DISK, SMALL, held, mark, opened, put
from tests.harness.repository.checkout import REPOSITORY


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("kind", ON_DISK)
def test_a_batch_without_room_is_refused_the_others_stay_and_it_can_be_repeated(
    kind: StoreKind, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", store_filler.__name__, kind, str(tmp_path), str(200_000)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "runtime"))),
    }
    ended = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.stdout, ended.stderr
    refused, *fine = ended.stdout.split()
    assert fine == ["True", "True"]
    store = opened(kind, tmp_path)
    expected: dict[bytes, bytes | None] = {}
    for number in range(int(refused) + 1):
        expected |= store_filler.entries(number)
    assert held(store) == expected
    assert store.mark == mark(int(refused))
    store.close()


def test_an_lmdb_store_grows_beyond_its_first_map(tmp_path: Path) -> None:
    store = opened(StoreKind.LMDB, tmp_path, replace(SMALL, map_bytes=1 << 20))
    for number in range(40):
        put(store, store_filler.entries(number))
        store.apply(mark(number))
    assert store.count() == 40 * store_filler.BATCH
    store.close()


def test_a_batch_too_large_for_the_map_fits_when_it_is_repeated(tmp_path: Path) -> None:
    store = opened(StoreKind.LMDB, tmp_path, replace(SMALL, map_bytes=1 << 20))
    large: dict[bytes, bytes | None] = {b"%06d" % number: b"x" * 500 for number in range(3_000)}
    with pytest.raises(StoreFullError):
        put(store, large)
    assert held(store) == {}
    put(store, large)
    store.apply(mark(1))
    assert store.count() == 3_000
    store.close()

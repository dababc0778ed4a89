"""A process killed at any moment leaves a store with exactly what its mark says."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from streamapp_runtime.stores.store import StoreKind
from tests.harness.child_processes import store_writer
from tests.harness.engine.opened_stores import ON_DISK, held, opened
from tests.harness.repository.checkout import REPOSITORY


def killed_after(kind: StoreKind, directory: Path, batches: int, bytes_more: int) -> int:
    """Let a writer apply some batches, kill it while it goes on; the last batch it told of."""
    command = [sys.executable, "-m", store_writer.__name__, kind, str(directory)]
    path = os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "runtime")))
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=REPOSITORY, env=environment, bufsize=0
    ) as writer:
        assert writer.stdout
        told = 0
        for _ in range(batches):
            told = int(writer.stdout.readline())
        for _ in range(bytes_more):  # a moment that is not always just after a batch
            writer.stdout.read(1)
        writer.kill()
    return told


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("kind", ON_DISK)
def test_a_killed_writer_leaves_exactly_what_the_mark_says(kind: StoreKind, tmp_path: Path) -> None:
    chance = random.Random(11)  # noqa: S311
    for _ in range(6):
        told = killed_after(kind, tmp_path / "users", chance.randint(1, 30), chance.randint(0, 9))
        store = opened(kind, tmp_path / "users", wait_seconds=5)
        assert store.mark
        assert store.mark.changelog >= told
        assert held(store) == store_writer.content(store.mark.changelog)
        store.close()

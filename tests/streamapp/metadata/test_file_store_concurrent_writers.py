import os
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from streamapp.metadata.file_store import FileMetadataStore
from tests.harness.machine.killable_child import started

WRITES = 40


def write_many(directory: Path, writer: bytes) -> None:
    store = FileMetadataStore(directory)
    for number in range(WRITES):
        store.put(b"%s %d" % (writer, number), b"written")
        store.put_all({b"left": writer, b"right": writer})


def everything(*writers: bytes) -> set[bytes]:
    return {b"%s %d" % (writer, number) for writer in writers for number in range(WRITES)} | {
        b"left",
        b"right",
    }


@pytest.mark.usefixtures("process")
def test_two_processes_that_write_at_once_lose_no_update_and_no_reader_sees_half_of_one(
    tmp_path: Path,
) -> None:
    children = [started(partial(write_many, tmp_path, writer)) for writer in (b"one", b"two")]
    while children:
        ended, status = os.waitpid(children[0], os.WNOHANG)
        if ended:
            assert status == 0
            children.remove(ended)
        seen = FileMetadataStore(tmp_path).all()
        assert seen.get(b"left") == seen.get(b"right")
    assert FileMetadataStore(tmp_path).all().keys() == everything(b"one", b"two")


def test_two_threads_that_share_a_store_lose_no_update(tmp_path: Path) -> None:
    threads = [Thread(target=write_many, args=(tmp_path, writer)) for writer in (b"one", b"two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert FileMetadataStore(tmp_path).all().keys() == everything(b"one", b"two")

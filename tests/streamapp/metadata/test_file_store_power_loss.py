"""Power goes at each system call in turn, and whatever was not made durable is lost in every possible way."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from streamapp.metadata.file_store import FileMetadataStore
from tests.harness.machine.lossy_disk import Directory, Disk, PowerLostError, after_power_loss

OLD = {b"a": b"old", b"b": b"old"}
NEW = {b"a": b"new", b"c": b"new"}
FOR_EVER = sys.maxsize


def store_on(disk: Directory, calls: int = FOR_EVER) -> FileMetadataStore:
    return FileMetadataStore(Path("store"), Disk(disk, calls))


def comes_to_its_end(change: Callable[[FileMetadataStore], None], disk: Directory, calls: int) -> bool:
    try:
        change(store_on(disk, calls))
    except PowerLostError:
        return False
    return True


CHANGES: dict[str, tuple[Callable[[FileMetadataStore], None], dict[bytes, bytes]]] = {
    "put": (lambda store: store.put(b"a", b"new"), OLD | {b"a": b"new"}),
    "put_all": (lambda store: store.put_all(NEW), OLD | NEW),
    "remove": (lambda store: store.remove(b"a"), {b"b": b"old"}),
}


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_has_happened_or_has_not_and_one_that_returned_has_happened(name: str) -> None:
    change, after = CHANGES[name]
    ended, calls = False, 0
    while not ended:
        disk = Directory()
        store_on(disk).put_all(OLD)
        ended = comes_to_its_end(change, disk, calls)
        for found in after_power_loss(disk):
            left = store_on(found).all()
            assert left == after if ended else left in (OLD, after)
            store_on(found).put(b"later", b"works")
            assert store_on(found).all() == left | {b"later": b"works"}
        calls += 1
    assert calls > 10


@pytest.mark.usefixtures("process")
def test_the_first_change_of_all_leaves_nothing_or_everything() -> None:
    ended, calls = False, 0
    while not ended:
        disk = Directory()
        ended = comes_to_its_end(lambda store: store.put_all(NEW), disk, calls)
        for found in after_power_loss(disk):
            left = store_on(found).all()
            assert left == NEW if ended else left in ({}, NEW)
        calls += 1
    assert calls > 10


@pytest.mark.usefixtures("process")
def test_a_change_made_again_after_a_crash_is_durable_when_it_returns() -> None:
    ended, calls = False, 0
    while not ended:
        disk = Directory()
        store_on(disk).put_all(OLD)
        ended = comes_to_its_end(lambda store: store.put_all(NEW), disk, calls)
        store_on(disk).put_all(NEW)  # only the process had died, the machine goes out now
        assert all(store_on(found).all() == OLD | NEW for found in after_power_loss(disk))
        calls += 1

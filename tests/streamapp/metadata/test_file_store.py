from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from streamapp.metadata.entries_codec import StoreUnreadableError, pack_entries
from streamapp.metadata.file_calls import OperatingSystemCalls
from streamapp.metadata.file_store import FileMetadataStore
from streamapp.metadata.metadata_store import MetadataStore
from streamapp.spec.reasons import Reason
from tests.streamapp.metadata.metadata_store_contract import StoreContract


class TestFileStore(StoreContract):
    @pytest.fixture
    def fresh(self, tmp_path: Path) -> Callable[[], MetadataStore]:
        numbers = count()
        return lambda: FileMetadataStore(tmp_path / f"{next(numbers)}")


def test_what_one_store_wrote_another_one_finds(tmp_path: Path) -> None:
    FileMetadataStore(tmp_path).put_all({b"a": b"1", b"b": b"2"})
    FileMetadataStore(tmp_path).remove(b"a")
    assert FileMetadataStore(tmp_path).all() == {b"b": b"2"}


def test_reading_leaves_no_trace(tmp_path: Path) -> None:
    assert FileMetadataStore(tmp_path / "store").all() == {}
    assert not (tmp_path / "store").exists()


def test_a_store_below_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileMetadataStore(tmp_path / "mistyped" / "store").put(b"a", b"1")


def test_a_damaged_file_is_refused_by_readers_and_writers_and_left_as_it_is(tmp_path: Path) -> None:
    FileMetadataStore(tmp_path).put(b"a", b"1")
    file = tmp_path / "metadata"
    sound = file.read_bytes()
    for damaged in (
        b"",
        sound[:-1],
        sound[:10],
        sound + b"\0",
        sound.replace(b"SAMD", b"SAMx"),
        b"\0" * len(sound),
    ):
        file.write_bytes(damaged)
        store = FileMetadataStore(tmp_path)
        for use in (
            store.all,
            partial(store.get, b"a"),
            partial(store.put, b"b", b"2"),
            partial(store.remove, b"a"),
        ):
            with pytest.raises(StoreUnreadableError) as caught:
                use()
            assert caught.value.reason is Reason.DAMAGED_DATA
        assert file.read_bytes() == damaged


def test_any_one_byte_changed_in_the_file_is_noticed(tmp_path: Path) -> None:
    sound = pack_entries({b"a": b"1", b"b": b"2"})
    for place in range(len(sound)):
        changed = bytearray(sound)
        changed[place] ^= 1 << place % 8
        (tmp_path / "metadata").write_bytes(changed)
        with pytest.raises(StoreUnreadableError):
            FileMetadataStore(tmp_path).all()


class FullDisk(OperatingSystemCalls):
    """The real system, but the disk takes a few bytes of each write and then no more."""

    room = 5

    def write(self, file: int, content: memoryview) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        written = super().write(file, content[: self.room])
        self.room -= written
        return written


def test_a_full_disk_is_an_error_that_changes_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    FileMetadataStore(tmp_path).put(b"a", b"1")
    with pytest.raises(OSError, match="No space left"):
        FileMetadataStore(tmp_path, FullDisk()).put(b"a", b"2")
    assert FileMetadataStore(tmp_path).all() == {b"a": b"1"}
    assert not (tmp_path / "metadata.new").exists()


class ShortWrites(OperatingSystemCalls):
    """The real system, but it takes and gives three bytes at a time, as it may."""

    def write(self, file: int, content: memoryview) -> int:
        return super().write(file, content[:3])

    def read(self, file: int, length: int) -> bytes:
        return super().read(file, min(length, 3))


def test_a_system_that_reads_and_writes_in_small_pieces_makes_no_difference(tmp_path: Path) -> None:
    store = FileMetadataStore(tmp_path, ShortWrites())
    store.put(b"key", b"value" * 100)
    assert store.get(b"key") == FileMetadataStore(tmp_path).get(b"key") == b"value" * 100

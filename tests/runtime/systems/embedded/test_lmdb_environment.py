"""What the log says of a folder that is full, foreign, forked or shared, and that it harms nothing."""

import os
import resource
import signal
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.embedded.lmdb_environment import LogUnreadableError
from streamapp_runtime.systems.stream_system import FullError, UnavailableError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import batch, texts, values, write

VIEWS = TopicPartition("views", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "log"


@pytest.fixture
def file_size_limit() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, ignored)


def append_large(system: EmbeddedSystem) -> None:
    write(system, VIEWS, batch((None, b"x" * 1_000, None) for _ in range(4_000)))


def test_a_full_map_is_said_to_be_full_and_a_larger_one_goes_on(folder: Path) -> None:
    system = EmbeddedSystem(folder, map_size=1 << 20)
    system.create("views", 1)
    write(system, VIEWS, values("a"))
    with pytest.raises(FullError, match="larger map"):
        append_large(system)
    assert texts(system, VIEWS) == ["a"]
    system.close()
    system = EmbeddedSystem(folder)
    append_large(system)
    assert system.spans([VIEWS])[VIEWS].end == 4_001
    system.close()


def test_a_full_map_still_takes_what_fits(folder: Path) -> None:
    system = EmbeddedSystem(folder, map_size=1 << 20)
    system.create("views", 1)
    with pytest.raises(FullError):
        append_large(system)
    write(system, VIEWS, values("a"))
    assert texts(system, VIEWS) == ["a"]
    system.close()


@pytest.mark.usefixtures("file_size_limit")
def test_a_disk_that_takes_no_more_is_told_and_nothing_of_the_transaction_is_there(folder: Path) -> None:
    system = EmbeddedSystem(folder)
    system.create("views", 1)
    write(system, VIEWS, values("a"))
    with pytest.raises(UnavailableError, match=str(folder)):
        append_large(system)
    write(system, VIEWS, values("b"))
    assert texts(system, VIEWS) == ["a", "b"]
    system.close()


@pytest.mark.usefixtures("file_size_limit")
def test_a_write_that_was_cut_short_on_a_disk_without_room_is_told_as_that(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = EmbeddedSystem(folder)
    system.create("views", 1)
    room = os.statvfs(folder)
    without_room = os.statvfs_result((*room[:4], 0, *room[5:]))
    monkeypatch.setattr(os, "statvfs", lambda _: without_room)
    with pytest.raises(FullError, match=f"^the disk that holds the log {folder} is full$"):
        append_large(system)
    system.close()


def test_objects_of_one_process_share_what_is_open(folder: Path) -> None:
    first, second = EmbeddedSystem(folder), EmbeddedSystem(folder.parent / "." / "log")
    first.create("views", 1)
    first.close()
    first.close()
    write(second, VIEWS, values("a"))
    assert texts(second, VIEWS) == ["a"]
    second.close()


def test_two_settings_for_one_folder_in_one_process_are_refused(folder: Path) -> None:
    system = EmbeddedSystem(folder)
    with pytest.raises(ValueError, match="sync"):
        EmbeddedSystem(folder, sync=True)
    system.close()


def test_a_synced_log_is_the_same_log(folder: Path) -> None:
    system = EmbeddedSystem(folder, sync=True)
    system.create("views", 1)
    write(system, VIEWS, values("a"))
    system.close()
    system = EmbeddedSystem(folder)
    assert texts(system, VIEWS) == ["a"]
    system.close()


def test_a_file_that_is_no_log_is_refused(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "data.mdb").write_bytes(b"something else" * 1_000)
    with pytest.raises(LogUnreadableError, match=str(folder)):
        EmbeddedSystem(folder)


def test_a_log_of_zero_bytes_is_refused_and_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "data.mdb").touch()
    with pytest.raises(LogUnreadableError, match=r"data.mdb has zero bytes.*restore it from a copy"):
        EmbeddedSystem(folder)
    assert (folder / "data.mdb").stat().st_size == 0


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("part", [0.999, 0.5, 0.1])
def test_a_log_that_was_cut_off_is_refused(folder: Path, part: float) -> None:
    system = EmbeddedSystem(folder)
    system.create("views", 1)
    for _ in range(20):
        write(system, VIEWS, values(*("some text" * 100 for _ in range(100))))
    system.close()
    file = folder / "data.mdb"
    os.truncate(file, int(file.stat().st_size * part))
    with pytest.raises(LogUnreadableError, match=r"has been cut off.*restore it from a copy"):
        EmbeddedSystem(folder)


@pytest.mark.usefixtures("process")
def test_a_log_that_lacks_pages_which_hold_nothing_is_read(folder: Path) -> None:
    system = EmbeddedSystem(folder)
    system.create("views", 1)
    write(system, VIEWS, values("a"))
    system.close()
    with lmdb.open(str(folder)) as raw:
        with raw.begin(write=True) as txn:
            txn.put(b"scratch", b"x" * 1_000_000)
        with raw.begin(write=True) as txn:
            txn.delete(b"scratch")
        used = sum(1 for _ in range(raw.info()["last_pgno"])) * 4096
    os.truncate(folder / "data.mdb", used - 200 * 4096)
    system = EmbeddedSystem(folder)
    assert texts(system, VIEWS) == ["a"]
    write(system, VIEWS, values("b"))
    assert texts(system, VIEWS) == ["a", "b"]
    system.close()


@pytest.mark.parametrize("size", [100, 4096, 100_000])
def test_a_log_of_zeroes_is_refused(folder: Path, size: int) -> None:
    folder.mkdir(parents=True)
    (folder / "data.mdb").write_bytes(bytes(size))
    with pytest.raises(LogUnreadableError, match="restore it from a copy"):
        EmbeddedSystem(folder)


def test_an_environment_of_another_program_is_refused_and_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    with lmdb.open(str(folder)) as raw, raw.begin(write=True) as txn:
        txn.put(b"their", b"entry")
    with pytest.raises(LogUnreadableError, match="no log; name another folder"):
        EmbeddedSystem(folder)
    with lmdb.open(str(folder)) as raw, raw.begin() as txn:
        assert dict(txn.cursor()) == {b"their": b"entry"}


def test_a_log_of_a_newer_format_is_refused_and_left_alone(folder: Path) -> None:
    EmbeddedSystem(folder).close()
    with lmdb.open(str(folder)) as raw, raw.begin(write=True) as txn:
        txn.put(b"format", b"2")
    with pytest.raises(LogUnreadableError, match="format 2"):
        EmbeddedSystem(folder)
    with lmdb.open(str(folder)) as raw, raw.begin() as txn:
        assert txn.get(b"format") == b"2"


def test_a_path_that_cannot_be_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="file"):
        EmbeddedSystem(tmp_path / "file" / "log")


@pytest.mark.usefixtures("process")
def test_a_forked_child_is_refused_the_log_of_its_parent_and_does_not_disturb_it(folder: Path) -> None:
    system = EmbeddedSystem(folder)
    system.create("views", 1)
    write(system, VIEWS, values("a"))
    reading = system.read(VIEWS, 0, 1)
    child = os.fork()
    if child == 0:
        os._exit(_what_a_child_finds(system, folder))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert next(reading).num_rows == 1
    write(system, VIEWS, values("b"))
    assert texts(system, VIEWS) == ["a", "b"]
    system.close()


def _what_a_child_finds(system: EmbeddedSystem, folder: Path) -> int:
    for attempt in (system.streams, lambda: EmbeddedSystem(folder)):
        try:
            attempt()
        except UnavailableError as refusal:
            if "forked" in str(refusal):
                continue
        return 1
    system.close()
    return 0

"""A store is opened only when it is the expected one and can be trusted."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from streamapp.spec.reasons import Reason
from streamapp_runtime.stores.directories.store_lock import end_holder, recorded_holder
from streamapp_runtime.stores.store import StoreBusyError, StoreDamagedError, StoreKind
from streamapp_runtime.stores.store_opening import discard_store, open_store
from tests.harness.engine.opened_stores import (
    IDENTITY,
    ON_DISK,
    OWNER,
    SMALL,
    binary,
    held,
    mark,
    opened,
    put,
)
from tests.harness.repository.checkout import REPOSITORY

on_disk = pytest.mark.parametrize("kind", ON_DISK)


def written(kind: StoreKind, directory: Path) -> None:
    store = opened(kind, directory)
    put(store, {b"%06d" % number: b"x" * 100 for number in range(5_000)})
    store.apply(mark(5))
    store.close()


@on_disk
def test_what_was_applied_is_there_after_reopening(kind: StoreKind, tmp_path: Path) -> None:
    store = opened(kind, tmp_path)
    put(store, {b"a": b"1"})
    store.apply(mark(5))
    put(store, {b"a": b"2"})
    store.close()
    again = opened(kind, tmp_path)
    assert held(again) == {b"a": b"1"}
    assert again.mark == mark(5)
    again.close()


@on_disk
@pytest.mark.parametrize("changed", ["run_id", "task", "table", "schema"])
def test_a_store_of_another_run_task_table_or_schema_is_refused(
    kind: StoreKind, changed: str, tmp_path: Path
) -> None:
    written(kind, tmp_path)
    with pytest.raises(StoreDamagedError, match="'other'") as refused:
        open_store(kind, tmp_path, replace(IDENTITY, **{changed: "other"}), owner=OWNER, limits=SMALL)
    assert refused.value.reason is Reason.STORE_DAMAGED
    opened(kind, tmp_path).close()


@on_disk
def test_entries_without_a_mark_are_refused(kind: StoreKind, tmp_path: Path) -> None:
    store = opened(kind, tmp_path)
    store.load(binary(b"a"), binary(b"1"))
    store.close()
    with pytest.raises(StoreDamagedError, match="no mark"):
        opened(kind, tmp_path)


@on_disk
def test_a_store_that_was_left_half_made_is_refused(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    (tmp_path / "form").unlink()
    with pytest.raises(StoreDamagedError, match="half made"):
        opened(kind, tmp_path)


@on_disk
@pytest.mark.parametrize("text", ["", "{}", '{"form": 1}', "nonsense", "[]"])
def test_an_unreadable_form_is_refused(kind: StoreKind, text: str, tmp_path: Path) -> None:
    written(kind, tmp_path)
    (tmp_path / "form").write_text(text)
    with pytest.raises(StoreDamagedError, match="cannot be read"):
        opened(kind, tmp_path)


@on_disk
def test_a_later_form_is_refused_as_such(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    (tmp_path / "form").write_text(json.dumps({"form": 2, "kind": kind}))
    with pytest.raises(StoreDamagedError, match="form 2") as refused:
        opened(kind, tmp_path)
    assert refused.value.reason is Reason.NEWER_FORMAT


@on_disk
def test_a_store_of_another_kind_is_refused(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    other = next(one for one in ON_DISK if one is not kind)
    with pytest.raises(StoreDamagedError, match=f"is of a {kind} store"):
        opened(other, tmp_path)


@on_disk
def test_overwritten_files_are_refused(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    for file in (tmp_path / "data").glob("*"):
        if file.suffix in {".mdb", ".sst"}:
            file.write_bytes(b"\xa5" * file.stat().st_size)
    with pytest.raises(StoreDamagedError):
        held(opened(kind, tmp_path))


@on_disk
@pytest.mark.parametrize("eighths", range(8))
def test_files_that_were_cut_off_are_refused_or_make_no_claim(
    kind: StoreKind, eighths: int, tmp_path: Path
) -> None:
    written(kind, tmp_path / "whole")
    for whole in (tmp_path / "whole" / "data").iterdir():
        damaged = tmp_path / whole.name
        copytree(tmp_path / "whole", damaged)
        file = damaged / "data" / whole.name
        os.truncate(file, file.stat().st_size * eighths // 8)
        try:
            store = opened(kind, damaged)
        except StoreDamagedError:
            continue
        assert (store.mark, len(held(store))) in [(None, 0), (mark(5), 5_000)]
        store.close()


@on_disk
def test_a_rebuilt_store_is_empty_and_of_any_kind(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    discard_store(tmp_path, owner=OWNER)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["lock"]
    for other in ON_DISK:
        store = opened(other, tmp_path)
        assert store.mark is None
        assert held(store) == {}
        store.close()
        discard_store(tmp_path, owner=OWNER)


@on_disk
def test_what_an_interrupted_rebuild_left_is_cleared_away(kind: StoreKind, tmp_path: Path) -> None:
    written(kind, tmp_path)
    (tmp_path / "form").unlink()
    (tmp_path / "data").rename(tmp_path / "gone-1")
    store = opened(kind, tmp_path)
    assert held(store) == {}
    assert not (tmp_path / "gone-1").exists()
    store.close()


@on_disk
def test_a_store_that_is_open_is_busy_and_its_holder_named(kind: StoreKind, tmp_path: Path) -> None:
    store = opened(kind, tmp_path)
    with pytest.raises(StoreBusyError, match=f"process {os.getpid()}") as refused:
        opened(kind, tmp_path)
    assert refused.value.pid == os.getpid()
    with pytest.raises(StoreBusyError):
        discard_store(tmp_path, owner=OWNER, wait_seconds=0)
    store.close()
    opened(kind, tmp_path).close()


def holding(directory: Path) -> "subprocess.Popen[bytes]":
    """Another process that holds a store until it is ended."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(REPOSITORY), str(REPOSITORY / "runtime"))),
    }
    command = [sys.executable, "-m", "tests.harness.child_processes.store_writer", "lmdb", str(directory)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=REPOSITORY, env=environment)
    assert process.stdout
    process.stdout.readline()
    return process


@pytest.mark.usefixtures("process")
def test_an_earlier_process_of_the_same_app_can_be_ended(tmp_path: Path) -> None:
    with holding(tmp_path) as process:
        with pytest.raises(StoreBusyError) as refused:
            opened(StoreKind.LMDB, tmp_path)
        assert refused.value.pid == process.pid
        assert not end_holder(tmp_path, "another-app", grace_seconds=0)
        assert process.poll() is None
        assert end_holder(tmp_path, OWNER, grace_seconds=5)
    opened(StoreKind.LMDB, tmp_path).close()


@pytest.mark.usefixtures("process")
def test_a_dead_holder_is_replaced(tmp_path: Path) -> None:
    with holding(tmp_path) as process:
        process.kill()
    left = recorded_holder(tmp_path)
    assert left
    assert left.pid == process.pid
    assert end_holder(tmp_path, OWNER, grace_seconds=0)
    opened(StoreKind.LMDB, tmp_path).close()
    assert recorded_holder(tmp_path) is None


@pytest.mark.usefixtures("process")
def test_a_process_that_took_over_a_dead_holders_id_is_left_alone(tmp_path: Path) -> None:
    with holding(tmp_path / "held") as process:
        record = json.loads((tmp_path / "held" / "holder").read_text())
        record["started"] = "1"
        (tmp_path / "held" / "holder").write_text(json.dumps(record))
        assert not end_holder(tmp_path / "held", OWNER, grace_seconds=0)
        assert process.poll() is None
        process.kill()


@pytest.mark.usefixtures("process")
def test_an_lmdb_store_whose_machine_stopped_unsynced_is_refused_until_rebuilt(tmp_path: Path) -> None:
    with holding(tmp_path) as process:
        process.kill()
    (tmp_path / "unsynced").write_text("another boot")
    for _ in range(2):
        with pytest.raises(StoreDamagedError, match="before its writes were synced"):
            opened(StoreKind.LMDB, tmp_path)
    discard_store(tmp_path, owner=OWNER)
    opened(StoreKind.LMDB, tmp_path).close()
    assert not (tmp_path / "unsynced").exists()


def test_a_synced_lmdb_store_outlives_its_machine(tmp_path: Path) -> None:
    synced = replace(SMALL, synced=True)
    store = opened(StoreKind.LMDB, tmp_path, synced)
    assert not (tmp_path / "unsynced").exists()
    store.close()

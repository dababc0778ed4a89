"""Stores on disk that no app owns any more are taken away; one that somebody holds never is."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from streamapp_runtime.cli.state import state
from streamapp_runtime.stores.directories.owned_stores import (
    OwnedStores,
    read_owned_stores,
    write_owned_stores,
)
from streamapp_runtime.stores.directories.state_directory import state_directory, stored_tasks
from streamapp_runtime.stores.directories.store_cleanup import (
    GRACE_SECONDS,
    remove_unowned_stores,
    unowned_stores,
)
from streamapp_runtime.stores.store import StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import open_store
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from tests.harness.repository.checkout import REPOSITORY

OWNED = OwnedStores(
    "run-2", frozenset({"task/0", "task/1"}), frozenset({"users", "rates"}), frozenset({"rates"})
)
KEYS, VALUES = pa.array([b"a"]), pa.array([b"1"])


def made(root: Path, task: str, table: str, run: str = "run-2", kind: StoreKind = StoreKind.LMDB) -> Path:
    directory = state_directory(root, "app", task, table)
    store = open_store(kind, directory, StoreIdentity(run, task, table, ""), owner="app")
    store.put(KEYS, VALUES)
    store.apply(StoreMark(run, task, table, "", "1", 1))
    store.close()
    return directory


def aged(directory: Path) -> None:
    for folder, _, files in os.walk(directory):
        for file in files:
            os.utime(Path(folder, file), (0, 0))


@contextmanager
def held(directory: Path, run: str, task: str, table: str) -> Iterator[None]:
    """Another process holds the store."""
    command = [sys.executable, "-m", "tests.harness.child_processes.store_holder", str(directory)]
    process = subprocess.Popen(
        [*command, "app", run, task, table, ""],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    try:
        yield
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("kind", [StoreKind.LMDB, StoreKind.ROCKSDB])
def test_what_is_of_another_task_table_or_run_is_found_and_says_why(tmp_path: Path, kind: StoreKind) -> None:
    made(tmp_path, "task/0", "users", kind=kind)
    made(tmp_path, "task/1", "users", run="run-1", kind=kind)
    made(tmp_path, "task/2", "users", kind=kind)
    made(tmp_path, "task/0", "orders", kind=kind)
    made(tmp_path, "somewhere", "rates", kind=kind)  # not kept task by task
    found = {(each.task, each.table): each.why for each in unowned_stores(tmp_path, "app", OWNED)}
    assert found == {
        ("task/1", "users"): "it is of an earlier run",
        ("task/2", "users"): "the app has no such task",
        ("task/0", "orders"): "the app has no such table",
    }


def test_what_was_touched_lately_is_left_at_a_start_and_the_rest_goes(tmp_path: Path) -> None:
    kept, gone = made(tmp_path, "task/2", "users"), made(tmp_path, "task/3", "users")
    now = GRACE_SECONDS + 10
    aged(gone)
    os.utime(kept / "form", (now, now))
    assert [each.task for each in remove_unowned_stores(tmp_path, "app", OWNED, now)] == ["task/3"]
    assert stored_tasks(tmp_path, "app") == {"task/2"}


def test_of_a_task_only_the_tables_that_the_app_has_no_more_go(tmp_path: Path) -> None:
    kept, gone = made(tmp_path, "task/0", "users"), made(tmp_path, "task/0", "orders")
    aged(gone)
    remove_unowned_stores(tmp_path, "app", OWNED, GRACE_SECONDS + 1)
    assert kept.exists()
    assert not gone.exists()


@pytest.mark.usefixtures("process")
def test_a_store_that_another_process_holds_is_left(tmp_path: Path) -> None:
    directory = made(tmp_path, "task/9", "users")
    with held(directory, "run-2", "task/9", "users"):
        aged(directory)
        assert remove_unowned_stores(tmp_path, "app", OWNED, 10 * GRACE_SECONDS) == []
    aged(directory)
    assert len(remove_unowned_stores(tmp_path, "app", OWNED, 10 * GRACE_SECONDS)) == 1
    assert not directory.exists()


def test_what_is_owned_is_read_back_and_may_be_said_again(tmp_path: Path) -> None:
    for _ in range(2):
        write_owned_stores(tmp_path, "app", OWNED)
        assert read_owned_stores(tmp_path, "app") == OWNED
    assert read_owned_stores(tmp_path, "other") is None


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An app with checkpoints, one store that it owns and one that it does not."""
    log = EmbeddedSystem(tmp_path)
    log.create("app.checkpoint", 1)
    log.close()
    made(tmp_path / "state", "task/0", "users")
    made(tmp_path / "state", "task/2", "users")
    write_owned_stores(tmp_path / "state", "app", OWNED)
    return tmp_path


def run(data: Path, *options: str) -> Result:
    result = CliRunner().invoke(state, ["gc", str(data), *options])
    assert result.exit_code == 0, result.output
    return result


def facts(data: Path, *options: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(data, "-o", "json", *options).stdout)
    return found


def test_the_verb_says_what_it_would_take_and_takes_nothing(data: Path) -> None:
    (one,) = facts(data, "--older-than", "0s", "--dry-run")
    assert one.pop("size") > 0
    assert one == {
        "app": "app",
        "task": "task/2",
        "table": "users",
        "why": "the app has no such task",
        "done": "would be taken away",
    }
    assert stored_tasks(data / "state", "app") == {"task/0", "task/2"}


def test_the_verb_takes_what_nobody_owns_and_says_how_much_that_was(data: Path) -> None:
    size = facts(data, "--older-than", "0s", "--dry-run")[0]["size"]
    assert run(data, "--older-than", "0s").stdout.splitlines()[-1] == f"1 store taken away, {size:,} bytes"
    assert stored_tasks(data / "state", "app") == {"task/0"}
    assert run(data, "--older-than", "0s").stdout == "0 stores taken away, 0 bytes\n"


def test_the_verb_leaves_what_was_touched_within_a_day(data: Path) -> None:
    assert facts(data) == []
    aged(state_directory(data / "state", "app", "task/2", "users"))
    assert len(facts(data)) == 1


@pytest.mark.usefixtures("process")
def test_the_verb_leaves_what_is_in_use_and_says_so(data: Path) -> None:
    directory = state_directory(data / "state", "app", "task/2", "users")
    with held(directory, "run-2", "task/2", "users"):
        assert [one["done"] for one in facts(data, "--older-than", "0s")] == ["in use"]
    assert directory.exists()


def test_all_stores_of_an_app_without_checkpoints_go_and_of_others_none(data: Path) -> None:
    made(data / "state", "task/0", "users")
    (data / "state" / "app").rename(data / "state" / "former")
    assert {one["why"] for one in facts(data, "--older-than", "0s")} == {"there is no such app"}
    assert stored_tasks(data / "state", "former") == frozenset()


def test_an_app_that_never_said_what_it_owns_keeps_everything(data: Path) -> None:
    (data / "state" / "app" / "owned.json").unlink()
    assert facts(data, "--older-than", "0s") == []


def test_an_app_that_is_not_there_is_told_beside_the_one_meant(data: Path) -> None:
    result = CliRunner().invoke(state, ["gc", str(data), "--app", "apq"])
    assert result.exit_code == 2
    assert 'did you mean "app"?' in result.stderr

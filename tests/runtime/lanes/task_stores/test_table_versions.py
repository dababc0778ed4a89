"""A version that is whole is linked for all lanes of a location: once, and again where it was forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.lanes.task_stores.table_versions import TableVersions
from streamapp_runtime.stores.directories.state_directory import EVERY_TASK, state_directory
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.versioned_table import Versioned


@pytest.fixture(params=[StoreKind.LMDB, StoreKind.ROCKSDB])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Versioned]:
    made = Versioned(tmp_path, request.param, broadcast=True)
    yield made
    made.close()


def folder(table: Versioned) -> Path:
    return state_directory(table.folder / "state", "app", EVERY_TASK, "prices")


def read_elsewhere(table: Versioned) -> dict[str, str]:
    """What a lane that does not fill the table finds."""
    versions = TableVersions(folder(table) / "versions", table.kind)
    versions.use(table.shared)
    found = {} if versions.store is None else dict(versions.store.scan())
    versions.close()
    return {key.decode(): value.decode() for key, value in found.items()}


def test_nothing_is_given_to_other_lanes_before_a_version_is_whole(table: Versioned) -> None:
    table.write("a", "1")
    table.batch()
    assert table.shared == ""
    table.mark()
    table.batch()
    assert table.shared == "1-2"
    table.batch()
    assert table.content() == {"a": "1"}


def test_a_version_is_given_once_and_the_next_takes_its_place(table: Versioned) -> None:
    table.write("a", "1")
    table.mark()
    table.batch()
    table.write("b", "2")
    table.batch()
    assert table.shared == "1-1"
    table.mark()
    table.batch()
    assert table.shared == "1-3"
    table.batch()
    assert table.content() == {"b": "2"}
    assert {found.name for found in (folder(table) / "versions").iterdir()} == {"1-3"}


def test_a_version_that_nobody_knows_of_any_more_is_given_again(table: Versioned) -> None:
    table.write("a", "1")
    table.mark()
    table.batch()
    table.shared = ""
    table.batch()
    assert table.shared == "1-2"


def test_after_a_restart_it_is_given_again_though_nothing_was_read(table: Versioned) -> None:
    table.write("a", "1")
    table.mark()
    table.batch()
    table.restarts()
    table.shared = ""
    table.batch()
    table.batch()
    assert table.content() == {"a": "1"}


def test_what_other_lanes_read_are_the_files_of_the_version_itself(table: Versioned) -> None:
    table.write("a", "1")
    table.mark()
    table.batch()
    kept, given = folder(table) / "sealed" / "v1", folder(table) / "versions" / table.shared
    files = {file.name for file in given.iterdir()}
    assert files
    assert all((kept / name).samefile(given / name) for name in files)
    assert read_elsewhere(table) == {"a": "1"}

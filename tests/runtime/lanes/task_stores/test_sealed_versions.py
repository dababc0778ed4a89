"""Rows see one version of a bounded data set at a time, and each as a whole."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamapp_runtime.lanes.records.version_end import IMPORT_ABANDONED, IMPORT_ENDED
from streamapp_runtime.lanes.task_stores.sealed_versions import SealedVersions
from streamapp_runtime.stores.store import StoreKind
from tests.harness.engine.versioned_table import NAME, Versioned

KINDS = list(StoreKind)
PERSISTENT = [StoreKind.LMDB, StoreKind.ROCKSDB]


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Versioned]:
    made = Versioned(tmp_path, request.param)
    yield made
    made.close()


def test_nothing_is_seen_before_the_first_version_is_sealed(table: Versioned) -> None:
    table.write("a", "1")
    assert table.batch() == [NAME]
    assert table.content() == {}
    table.mark()
    assert table.batch() == []
    assert table.content() == {"a": "1"}


def test_the_next_version_is_filled_unseen_and_takes_the_place_of_the_one_before_it(
    table: Versioned,
) -> None:
    table.write("a", "1")
    table.write("b", "1")
    table.mark()
    table.write("a", "2")
    assert table.get("a") == ("1", 1)
    table.mark()
    assert table.get("a") == ("2", 2)
    assert table.content() == {"a": "2"}


def test_several_versions_that_came_at_once_are_seen_one_after_the_other(table: Versioned) -> None:
    for version in "123":
        table.write("a", version)
        table.mark()
    seen = []
    while table.behind():
        table.batch()
        seen.append(table.content())
    assert seen == [{"a": "1"}, {"a": "2"}, {"a": "3"}]


@pytest.mark.parametrize("kind", KINDS)
def test_a_partition_that_is_ahead_waits_until_all_have_ended_the_version(
    tmp_path: Path, kind: StoreKind
) -> None:
    table = Versioned(tmp_path, kind, partitions=2)
    table.write("a", "1", 0)
    table.mark(0)
    table.write("a", "2", 0)
    table.write("b", "1", 1)
    assert table.batch() == [f"{NAME}#0", NAME]
    assert table.batch() == [f"{NAME}#0", NAME]
    table.mark(1)
    table.batch()
    assert table.content() == {"a": "1", "b": "1"}
    table.mark(0)
    table.mark(1)
    assert table.get("a") == ("2", 2)
    assert table.content() == {"a": "2"}
    table.close()


@pytest.mark.parametrize("kind", PERSISTENT)
def test_what_is_seen_and_what_is_filled_outlive_the_worker(tmp_path: Path, kind: StoreKind) -> None:
    table = Versioned(tmp_path, kind)
    table.write("a", "1")
    table.mark()
    table.write("a", "2")
    assert table.get("a") == ("1", 1)
    table.restarts()
    assert table.get("a") == ("1", 1)
    table.write("b", "2")
    table.mark()
    assert table.get("a") == ("2", 2)
    assert table.content() == {"a": "2", "b": "2"}
    table.close()


@pytest.mark.parametrize("kind", PERSISTENT)
def test_a_worker_that_is_killed_after_a_version_was_whole_and_before_it_was_seen_leaves_it_to_the_next(
    tmp_path: Path, kind: StoreKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(Exception):
        pass

    def killed(*_: object) -> None:
        raise KilledError

    table = Versioned(tmp_path, kind)
    table.write("a", "1")
    table.mark()
    with monkeypatch.context() as patched:
        patched.setattr(SealedVersions, "swap", killed)
        with pytest.raises(KilledError):
            table.batch()
    table.restarts()
    assert table.get("a") == ("1", 1)
    table.close()


@pytest.mark.parametrize("kind", PERSISTENT)
def test_a_version_that_was_seen_and_is_lost_is_filled_again(tmp_path: Path, kind: StoreKind) -> None:
    table = Versioned(tmp_path, kind)
    table.write("a", "1")
    table.mark()
    assert table.get("a") == ("1", 1)
    table.side_inputs.release()
    for version in (tmp_path / "state").rglob("v1"):
        version.rename(version.with_name("lost"))
    table.new_worker()
    assert table.get("a") == ("1", 1)
    assert table.content() == {"a": "1"}
    table.close()


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_an_abandoned_import_are_never_seen(tmp_path: Path, kind: StoreKind, restarts: bool) -> None:
    table = Versioned(tmp_path, kind, partitions=2, sign="import")
    ended, abandoned = IMPORT_ENDED.decode(), IMPORT_ABANDONED.decode()
    dice = random.Random(str(kind))  # noqa: S311
    seen, whole = {}, list[dict[str, str]]()
    for version in range(12):
        rows = {f"{key}": f"{version}" for key in dice.sample("abcdef", 3)}
        is_whole = version in {0, 11} or dice.random() < 0.5
        for partition in (0, 1):
            for key, value in rows.items():
                if ord(key) % 2 == partition:
                    table.write(key, value, partition)
            if dice.random() < 0.5:
                table.batch()
            table.write(None, ended if is_whole else abandoned, partition)
        whole += [rows] if is_whole else []
        if restarts and kind is not StoreKind.MEMORY and dice.random() < 0.3:
            table.restarts()
        while table.behind():
            table.batch()
        seen = table.content()
        assert seen == whole[-1]
    table.close()

"""When files count as changed, and when a save counts as complete."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from streamapp_runtime.cli.dev_loop.own_modules import OwnModules
from streamapp_runtime.cli.dev_loop.watched_files import MOST_SECONDS, QUIET_SECONDS, WatchedFiles


class Pauses:
    """Time that goes on while somebody waits, and what happens meanwhile."""

    def __init__(self, *events: Callable[[], object]) -> None:
        self.seconds = 0.0
        self._events: Iterator[Callable[[], object]] = iter(events)

    def clock(self) -> float:
        return self.seconds

    def pause(self, seconds: float) -> None:
        self.seconds += seconds
        next(self._events, lambda: None)()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "app.yaml"
    path.write_text("first", "utf-8")
    return path


def watched(*paths: Path) -> WatchedFiles:
    files = WatchedFiles()
    files.add(paths)
    return files


def settled(files: WatchedFiles, pauses: Pauses) -> frozenset[Path]:
    return files.take_settled_changes(pauses.clock, pauses.pause)


def test_nothing_is_waited_for_where_nothing_has_changed(file: Path) -> None:
    pauses = Pauses()
    assert settled(watched(file), pauses) == frozenset()
    assert pauses.seconds == 0


def test_a_save_counts_once_and_after_a_moment_of_quiet(file: Path) -> None:
    files, pauses = watched(file), Pauses()
    file.write_text("second", "utf-8")
    assert settled(files, pauses) == {file}
    assert pauses.seconds == QUIET_SECONDS
    assert settled(files, pauses) == frozenset()


def test_a_file_of_the_same_size_that_took_its_place_has_changed(file: Path) -> None:
    files, other = watched(file), file.with_name("new")
    other.write_text("third", "utf-8")
    other.replace(file)
    assert settled(files, Pauses()) == {file}


def test_saves_that_follow_each_other_count_as_one(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "spending.py"
    files = watched(file, other)
    file.write_text("second", "utf-8")
    pauses = Pauses(
        lambda: file.write_text("longer", "utf-8"), lambda: other.write_text("new", "utf-8"), lambda: None
    )
    assert settled(files, pauses) == {file, other}
    assert pauses.seconds == pytest.approx(3 * QUIET_SECONDS)


@pytest.mark.parametrize("gap", [Path.unlink, lambda path: path.write_bytes(b"")], ids=["gone", "empty"])
def test_a_file_that_is_being_replaced_is_waited_for(file: Path, gap: Callable[[Path], object]) -> None:
    files = watched(file)
    gap(file)
    pauses = Pauses(lambda: None, lambda: None, lambda: None, lambda: file.write_text("second", "utf-8"))
    assert settled(files, pauses) == {file}
    assert file.read_text("utf-8") == "second"
    assert pauses.seconds < MOST_SECONDS


def test_a_file_that_stays_away_is_reported_after_a_while_and_once(file: Path) -> None:
    files, pauses = watched(file), Pauses()
    file.unlink()
    assert settled(files, pauses) == {file}
    assert pauses.seconds == pytest.approx(MOST_SECONDS, abs=QUIET_SECONDS)
    assert settled(files, pauses) == frozenset()


def test_a_file_that_never_rests_is_reported_all_the_same(file: Path) -> None:
    numbers = count()
    files = watched(file)
    file.write_text("second", "utf-8")
    pauses = Pauses(*(lambda: file.write_text("x" * next(numbers), "utf-8") for _ in range(100)))
    assert settled(files, pauses) == {file}


def test_a_file_that_was_saved_after_it_was_read_has_changed(file: Path) -> None:
    files = WatchedFiles()
    files.add([file], read_since_ns=file.stat().st_mtime_ns - 1)
    assert settled(files, Pauses()) == {file}
    assert settled(files, Pauses()) == frozenset()


def test_modules_beside_the_app_are_watched_and_installed_ones_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "watched_beside.py").write_text("import colorsys\nimport watched_inner.part\n", "utf-8")
    (tmp_path / "watched_inner").mkdir()
    (tmp_path / "watched_inner" / "__init__.py").write_text("", "utf-8")
    (tmp_path / "watched_inner" / "part.py").write_text("", "utf-8")
    (tmp_path / "site-packages").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    (tmp_path / "site-packages" / "watched_library.py").write_text("", "utf-8")
    modules = OwnModules(tmp_path)
    try:
        __import__("watched_beside")
        __import__("watched_library")
        with pytest.raises(ModuleNotFoundError):
            __import__("watched_inner.absent")
        with pytest.raises(ModuleNotFoundError):
            __import__("watched_absent")
        (tmp_path / "watched_broken.py").write_text("def (:", "utf-8")
        with pytest.raises(SyntaxError):
            __import__("watched_broken")
    finally:
        __import__("sys").meta_path.remove(modules)
    names = {str(path.relative_to(tmp_path)) for path in modules.files() if path.is_relative_to(tmp_path)}
    assert names == {
        *("watched_beside.py", "watched_inner/__init__.py", "watched_inner/part.py"),
        *("watched_absent.py", "watched_absent/__init__.py"),
        *("watched_broken.py", "watched_broken/__init__.py"),
        *("watched_inner/absent.py", "watched_inner/absent/__init__.py"),
    }

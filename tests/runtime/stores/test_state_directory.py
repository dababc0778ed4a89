"""Where a table's state lies, for tasks of any name."""

from pathlib import Path

from hypothesis import assume, example, given
from hypothesis import strategies as st

from streamapp_runtime.stores.directories.state_directory import (
    quoted,
    state_directory,
    stored_tasks,
    unquoted,
)

NAMES = st.text(st.characters(codec="utf-8"), max_size=80) | st.text("./%+\0 a\\", max_size=400)


@given(NAMES)
@example("")
@example("%")
@example("..")
@example("SystemStreamPartition [kafka, views, 3]")
def test_a_name_is_read_back_from_its_directory(name: str) -> None:
    assert unquoted(quoted(name)) == name


@given(NAMES)
@example("." * 255)
@example("x" * 249 + "/..")
def test_a_name_stays_below_its_directory_and_within_what_file_systems_allow(name: str) -> None:
    for component in quoted(name).split("/"):
        assert component not in {"", ".", ".."}
        assert len(component.encode()) <= 255
        assert component.isprintable()


@given(NAMES, NAMES)
def test_two_names_have_directories_of_which_none_holds_the_other(one: str, other: str) -> None:
    assume(one != other)
    first, second = Path(quoted(one)), Path(quoted(other))
    assert first not in (second, *second.parents)


def test_usual_names_can_be_recognised() -> None:
    directory = state_directory(Path("/state"), "shop.page-views", "Partition 3", "users")
    assert directory == Path("/state/shop.page-views/Partition 3/users")


def test_the_tasks_that_have_state_here_are_found(tmp_path: Path) -> None:
    tasks = {"Partition 3", "a/b", "..", "", "long " * 200}
    for task in tasks:
        state_directory(tmp_path, "app", task, "users").mkdir(parents=True)
    (tmp_path / "app" / "a file").touch()
    assert stored_tasks(tmp_path, "app") == tasks
    assert stored_tasks(tmp_path, "other") == frozenset()

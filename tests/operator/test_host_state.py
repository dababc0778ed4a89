"""Folders of state on a node: made, kept for as long as there is an app, cleared when nobody wants them."""

import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from streamapp_operator.host_state.__main__ import main
from streamapp_operator.host_state.known_apps import app_identity
from streamapp_operator.host_state.orphaned_folders import StateFolder, orphaned_folders
from streamapp_operator.host_state.state_folders import app_folders, prepare_root
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_processes import app, put

DAY = 86_400.0
names = st.sampled_from(["a", "b", "c"])
folders = st.builds(StateFolder, names, names, st.just("/x"), st.floats(0, 10 * DAY))


@given(st.lists(folders), st.sets(st.tuples(names, names)), st.sets(names), st.floats(0, 10 * DAY))
def test_nothing_of_an_app_nothing_young_and_nothing_unknown_is_given_up(
    every: list[StateFolder], apps: set[tuple[str, str]], namespaces: set[str], after: float
) -> None:
    now = 10 * DAY
    gone = list(orphaned_folders(every, apps, namespaces, now, after))
    for folder in every:
        orphan = (folder.namespace, folder.application_id) not in apps
        old, known = folder.touched + after < now, not namespaces or folder.namespace in namespaces
        if abs(folder.touched + after - now) > 1e-3:
            assert (folder in gone) == (orphan and old and known)


def kept(root: Path, *parts: str, days: float) -> Path:
    """A store that was last written so many days ago."""
    store = root.joinpath(*parts)
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text("state")
    then = time.time() - days * DAY
    for path in (store, *store.relative_to(root).parents):
        os.utime(root / path, (then, then))
    return store


def test_a_folder_is_as_old_as_the_newest_thing_in_it(tmp_path: Path) -> None:
    kept(tmp_path, "shop", "shop.views", "task", "table", days=9)
    new = kept(tmp_path, "shop", "shop.views", "other", "table", days=9)
    os.utime(new, (1e9, 1e9 + 5))
    (folder,) = app_folders(tmp_path)
    assert (folder.namespace, folder.application_id) == ("shop", "shop.views")
    assert folder.touched == pytest.approx(time.time() - 9 * DAY, abs=60)
    os.utime(new)
    (folder,) = app_folders(tmp_path)
    assert folder.touched == pytest.approx(time.time(), abs=60)


def test_links_and_files_among_folders_are_nobodys(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "app").mkdir(parents=True)
    root = tmp_path / "root"
    (root / "shop").mkdir(parents=True)
    (root / "shop" / "file").write_text("")
    (root / "shop" / "link").symlink_to(elsewhere)
    (root / "also").symlink_to(elsewhere)
    assert list(app_folders(root)) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_root_is_made_and_given_to_the_user_of_drivers_and_executors(tmp_path: Path) -> None:
    prepare_root(tmp_path / "a" / "b")
    prepare_root(tmp_path / "a" / "b")
    made = (tmp_path / "a" / "b").stat()
    assert (made.st_uid, made.st_gid) == (185, 185)


def test_an_app_has_its_folder_by_the_id_that_it_names_else_by_its_own() -> None:
    wanted = app("shop")
    assert app_identity(wanted) == ("shop", "shop.app")
    wanted["spec"]["applicationId"] = "views"
    assert app_identity(wanted) == ("shop", "views")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
class TestRounds:
    """The program itself, on a root of its own, by what a real API server says of apps."""

    def run(self, root: Path, kubeconfig: Path, *args: str) -> Result:
        said = ["--once", "--root", str(root), "--clean-after", "7d", *args]
        return CliRunner().invoke(main, said, env={"KUBECONFIG": str(kubeconfig)})

    def test_what_no_app_has_any_more_is_cleared_and_the_rest_stays(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        put(api_server, app(namespace))
        mine = kept(tmp_path, namespace, f"{namespace}.app", "task", days=30)
        young = kept(tmp_path, namespace, "young", "task", days=1)
        old = kept(tmp_path, namespace, "old", "task", days=8)
        done = self.run(tmp_path, api_server.kubeconfig())
        assert done.exit_code == 0, done.output
        assert (mine.exists(), young.exists()) == (True, True)
        assert not old.parent.exists()

    def test_of_other_namespaces_nothing_is_cleared(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        other = kept(tmp_path, "other", "old", "task", days=30)
        assert self.run(tmp_path, api_server.kubeconfig(), "--namespace", namespace).exit_code == 0
        assert other.exists()

    def test_while_nobody_says_what_apps_there_are_nothing_is_cleared(
        self, api_server: ApiServer, tmp_path: Path
    ) -> None:
        old = kept(tmp_path, "shop", "old", "task", days=30)
        for kubeconfig in (
            api_server.kubeconfig("nobody"),
            api_server.kubeconfig("admin", "https://127.0.0.1:1"),
        ):
            assert self.run(tmp_path, kubeconfig).exit_code == 0
            assert old.exists()

    def test_what_links_lead_to_is_left_alone(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        precious = tmp_path / "precious"
        precious.write_text("kept")
        old = kept(tmp_path / "root", namespace, "old", "task", days=30)
        (old.parent / "link").symlink_to(precious)
        os.utime(old.parent / "link", (0, 0), follow_symlinks=False)
        os.utime(old.parent, (0, 0))
        assert self.run(tmp_path / "root", api_server.kubeconfig()).exit_code == 0
        assert not old.parent.exists()
        assert precious.read_text() == "kept"


def test_roots_that_lie_in_each_other_are_refused(tmp_path: Path) -> None:
    """`fast` would be a namespace of the outer root, and the apps of the inner one nobody's."""
    roots = ["--root", str(tmp_path), "--root", str(tmp_path / "fast")]
    result = CliRunner().invoke(main, ["--once", *roots])
    assert result.exit_code == 2
    assert f"{tmp_path / 'fast'} lies in {tmp_path}" in " ".join(result.output.split())


def test_a_time_that_is_none_is_refused_where_it_stands(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--root", str(tmp_path), "--clean-after", "soon"])
    assert done.exit_code == 2
    assert '--clean-after\': "soon" is no duration' in done.output

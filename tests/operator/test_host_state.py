"""Folders of state on a node: marked as their app's, kept as long as it exists, cleared when it is gone."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from streamapp.durable_forms import VersionRefusal
from streamapp_operator.host_state.__main__ import main
from streamapp_operator.host_state.folder_mark import FolderMark, mark_text, read_mark_text
from streamapp_operator.host_state.known_apps import known_app
from streamapp_operator.host_state.orphaned_folders import (
    KnownApp,
    StateFolder,
    marks_to_write,
    orphaned_folders,
    why_kept,
)
from streamapp_operator.host_state.state_folders import app_folders, prepare_root, write_mark
from tests.harness.api_server.api_server import ApiServer
from tests.harness.operator.operator_processes import app, path_of, put

DAY = 86_400.0
names = st.sampled_from(["a", "b", "c"])
marks = st.none() | st.builds(FolderMark, names, names, names, names)
folders = st.builds(StateFolder, st.just("/x"), names, names, st.floats(0, 10 * DAY), marks)
known_apps = st.builds(KnownApp, names, names, names, names, st.sampled_from(["/x", "/y", ""]))


@pytest.mark.usefixtures("process")
@given(st.lists(folders), st.lists(known_apps), st.sets(names), st.floats(0, 10 * DAY))
def test_nothing_of_an_app_nothing_young_and_nothing_unknown_is_given_up(
    every: list[StateFolder], apps: list[KnownApp], namespaces: set[str], after: float
) -> None:
    now = 10 * DAY
    gone = list(orphaned_folders(every, apps, namespaces, now, after))
    identities = {(app.namespace, app.application_id) for app in apps}
    for folder in every:
        orphan = (folder.namespace, folder.application_id) not in identities
        old, known = folder.touched + after < now, not namespaces or folder.namespace in namespaces
        if abs(folder.touched + after - now) > 1e-3:
            assert (folder in gone) == (orphan and old and known)


@pytest.mark.usefixtures("process")
@given(folders, st.lists(known_apps))
def test_only_a_mark_of_the_folder_itself_and_of_an_app_that_is_gone_lets_it_be_cleared(
    folder: StateFolder, apps: list[KnownApp]
) -> None:
    mark = folder.mark
    of_itself = isinstance(mark, FolderMark) and (mark.namespace, mark.application_id) == (
        folder.namespace,
        folder.application_id,
    )
    gone = isinstance(mark, FolderMark) and mark.uid not in {app.uid for app in apps}
    assert (why_kept(folder, apps) == "") == (of_itself and gone)


@pytest.mark.usefixtures("process")
@given(st.lists(folders), st.lists(known_apps, unique_by=lambda app: (app.namespace, app.application_id)))
def test_a_folder_is_marked_once_and_only_by_an_app_that_keeps_state_in_its_root(
    every: list[StateFolder], apps: list[KnownApp]
) -> None:
    written = list(marks_to_write(every, apps))
    for folder, mark in written:
        app = next(app for app in apps if app.mark == mark)
        assert (app.root, app.namespace, app.application_id) == (
            folder.root,
            folder.namespace,
            folder.application_id,
        )
    marked = [StateFolder(f.root, f.namespace, f.application_id, f.touched, mark) for f, mark in written]
    assert list(marks_to_write(marked, apps)) == []


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 2}', "\x00"])
def test_a_mark_that_cannot_be_read_names_no_app(text: str) -> None:
    mark = read_mark_text(text)
    assert isinstance(mark, VersionRefusal)
    assert why_kept(StateFolder("/x", "shop", "views", 0.0, mark), []) == str(mark)


def kept(root: Path, *parts: str, days: float) -> Path:
    """A store that was last written so many days ago."""
    store = root.joinpath(*parts)
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text("state")
    then = time.time() - days * DAY
    for path in (store, *store.relative_to(root).parents):
        os.utime(root / path, (then, then))
    return store


def mark_file(root: Path, namespace: str, application_id: str) -> Path:
    return root / ".streamapp" / namespace / f"{application_id}.json"


def marked(root: Path, namespace: str, application_id: str, uid: str = "gone") -> Path:
    """The mark of an app that kept its state in this folder."""
    file = mark_file(root, namespace, application_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(mark_text(FolderMark(namespace, "app", uid, application_id)))
    return file


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
def test_a_root_is_made_and_only_the_nodes_root_can_write_in_it(tmp_path: Path) -> None:
    root = tmp_path / "a" / "b"
    prepare_root(root)
    os.chown(root, 185, 185)
    root.chmod(0o777)
    prepare_root(root)
    status = root.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (0, 0, 0o755)
    root.chmod(0o711)
    prepare_root(root)
    assert root.stat().st_mode & 0o777 == 0o711


@pytest.mark.usefixtures("process")
def test_an_app_has_its_folder_by_the_id_that_it_names_else_by_its_own() -> None:
    wanted = app("shop")
    wanted["metadata"]["uid"] = "4f"
    assert known_app(wanted) == KnownApp("shop", "app", "4f", "shop.app", "")
    wanted["spec"]["applicationId"] = "views"
    wanted["spec"]["state"] = {"hostPath": {"path": "/fast/"}}
    assert known_app(wanted) == KnownApp("shop", "app", "4f", "views", "/fast")


def test_a_namespace_that_is_a_link_by_now_leads_nowhere(tmp_path: Path) -> None:
    """A mark is not written through a link either."""
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / "root"
    (root / "shop" / "views").mkdir(parents=True)
    (folder,) = app_folders(root)
    (root / ".streamapp").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        write_mark(folder, FolderMark("shop", "app", "4f", "views"))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_deeper_than_anybody_can_walk_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "shop" / "deep").mkdir(parents=True)
    opened = os.open(tmp_path / "shop" / "deep", os.O_RDONLY)
    for _ in range(3_000):
        os.mkdir("d", dir_fd=opened)
        below = os.open("d", os.O_RDONLY, dir_fd=opened)
        os.close(opened)
        opened = below
    os.close(opened)
    (tmp_path / "shop" / "views").mkdir()
    deep, views = app_folders(tmp_path)
    assert deep.application_id == "deep"
    is_read = deep.touched < float("inf")  # later versions of Python walk it without recursion
    assert is_read == (sys.version_info >= (3, 13))
    assert ("deep cannot be read" in caplog.text) == (not is_read)
    assert views.touched < float("inf")
    flatten(tmp_path / "shop" / "deep")


def flatten(folder: Path) -> None:
    """Remove a folder that is too deep for the tools: each `d` comes up by one step, and goes."""
    while (inner := folder / "d").is_dir():
        below = inner / "d"
        if not below.is_dir():
            inner.rmdir()
            return
        below.rename(folder / "e")
        inner.rmdir()
        (folder / "e").rename(inner)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
class TestRounds:
    """The program itself, on a root of its own, by what a real API server says of apps."""

    def run(self, root: Path, kubeconfig: Path, *args: str) -> Result:
        options = ["--once", "--root", str(root), "--clean-after", "7d", *args]
        return CliRunner().invoke(main, options, env={"KUBECONFIG": str(kubeconfig)})

    def test_what_no_app_has_any_more_is_cleared_and_the_rest_stays(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        put(api_server, app(namespace))
        mine = kept(tmp_path, namespace, f"{namespace}.app", "task", days=30)
        young = kept(tmp_path, namespace, "young", "task", days=1)
        old = kept(tmp_path, namespace, "old", "task", days=8)
        marked(tmp_path, namespace, "young")
        marked(tmp_path, namespace, "old")
        done = self.run(tmp_path, api_server.kubeconfig())
        assert done.exit_code == 0, done.output
        assert (mine.exists(), young.exists()) == (True, True)
        assert not old.parent.exists()
        assert not mark_file(tmp_path, namespace, "old").exists()

    def test_a_folder_is_marked_while_its_app_is_there_and_cleared_when_the_app_is_gone(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        """Folders of before the mark have it from the first round on."""
        wanted = app(namespace)
        wanted["spec"]["state"] = {"hostPath": {"path": str(tmp_path)}}
        put(api_server, wanted)
        uid = api_server.ask("GET", path_of(wanted))["metadata"]["uid"]
        store = kept(tmp_path, namespace, f"{namespace}.app", "task", days=30)
        assert self.run(tmp_path, api_server.kubeconfig()).exit_code == 0
        file = mark_file(tmp_path, namespace, f"{namespace}.app")
        assert read_mark_text(file.read_text()) == FolderMark(namespace, "app", uid, f"{namespace}.app")
        assert (file.stat().st_uid, store.exists()) == (0, True)
        api_server.ask("DELETE", path_of(wanted))
        assert self.run(tmp_path, api_server.kubeconfig()).exit_code == 0
        assert not store.parent.exists()
        assert not file.exists()

    def test_an_app_that_is_made_anew_finds_its_state_and_marks_it_as_its_own(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        wanted = app(namespace)
        wanted["spec"]["state"] = {"hostPath": {"path": str(tmp_path)}}
        store = kept(tmp_path, namespace, f"{namespace}.app", "task", days=30)
        marked(tmp_path, namespace, f"{namespace}.app", uid="of-the-one-before")
        put(api_server, wanted)
        uid = api_server.ask("GET", path_of(wanted))["metadata"]["uid"]
        assert self.run(tmp_path, api_server.kubeconfig()).exit_code == 0
        assert store.exists()
        assert uid in mark_file(tmp_path, namespace, f"{namespace}.app").read_text()

    def test_what_has_no_mark_of_its_own_is_left_alone_and_named(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        """Folders of others, of apps that were gone before the mark, and copies of a mark."""
        stores = {name: kept(tmp_path, namespace, name, "task", days=30) for name in ("a", "b", "c")}
        marked(tmp_path, namespace, "other")
        marked(tmp_path, namespace, "b").write_text(mark_text(FolderMark(namespace, "app", "4f", "other")))
        marked(tmp_path, namespace, "c").write_text('{"format": 2}')
        options = ["--once", "--root", str(tmp_path), "--clean-after", "7d"]
        command = [sys.executable, "-m", "streamapp_operator.host_state", *options]
        environment = os.environ | {"KUBECONFIG": str(api_server.kubeconfig())}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert all(store.exists() for store in stores.values())
        lines = [json.loads(line) for line in done.stderr.splitlines()]
        left = {line["folder"]: line["message"] for line in lines}
        assert set(left) == {str(tmp_path / namespace / name) for name in stores}
        assert "no mark" in left[str(tmp_path / namespace / "a")]
        assert "its mark is of" in left[str(tmp_path / namespace / "b")]
        assert "use the version of streamapp that wrote it" in left[str(tmp_path / namespace / "c")]

    def test_a_mark_without_its_folder_goes_so_that_it_speaks_for_no_other_folder(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        file = marked(tmp_path, namespace, "old")
        with TemporaryDirectory() as other:
            kept(Path(other), namespace, "old", "task", days=1)
            assert self.run(tmp_path, api_server.kubeconfig(), "--root", other).exit_code == 0
        assert not file.exists()
        old = kept(tmp_path, namespace, "old", "task", days=30)
        assert self.run(tmp_path, api_server.kubeconfig()).exit_code == 0
        assert old.exists()

    def test_of_other_namespaces_nothing_is_cleared(
        self, api_server: ApiServer, namespace: str, tmp_path: Path
    ) -> None:
        other = kept(tmp_path, "other", "old", "task", days=30)
        marked(tmp_path, "other", "old")
        assert self.run(tmp_path, api_server.kubeconfig(), "--namespace", namespace).exit_code == 0
        assert other.exists()

    def test_while_nobody_says_what_apps_there_are_nothing_is_cleared(
        self, api_server: ApiServer, tmp_path: Path
    ) -> None:
        old = kept(tmp_path, "shop", "old", "task", days=30)
        marked(tmp_path, "shop", "old")
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
        marked(tmp_path / "root", namespace, "old")
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
    assert f"{tmp_path / 'fast'} is inside {tmp_path}" in " ".join(result.output.split())


def test_a_time_that_is_none_is_refused_where_it_stands(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--root", str(tmp_path), "--clean-after", "soon"])
    assert done.exit_code == 2
    assert '--clean-after\': "soon" is no duration' in done.output

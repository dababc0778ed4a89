"""Edge: the state folders below a root, `<root>/<namespace>/<applicationId>`."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from streamapp_operator.host_state.orphaned_folders import StateFolder
from streamapp_operator.reconciler.pods.state_volume import RUNTIME_USER


def prepare_root(root: Path) -> None:
    """Create the root folder and give it to the user that drivers and executors run as."""
    root.mkdir(parents=True, exist_ok=True)
    if (root.stat().st_uid, root.stat().st_gid) != (RUNTIME_USER, RUNTIME_USER):
        os.chown(root, RUNTIME_USER, RUNTIME_USER)


def app_folders(root: Path) -> Iterator[StateFolder]:
    """Every app's folder below a root. Links and files are skipped."""
    for namespace in _folders(root):
        for app in _folders(namespace):
            yield StateFolder(namespace.name, app.name, str(app), _touched(app))


def remove_folder(folder: StateFolder) -> None:
    """Remove a folder with its content; links in it are not followed."""
    shutil.rmtree(folder.path)


def _folders(parent: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in os.scandir(parent) if entry.is_dir(follow_symlinks=False))


def _touched(folder: Path) -> float:
    """The time of the last write below a folder."""
    newest = folder.lstat().st_mtime
    for folder_path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            try:
                newest = max(newest, Path(folder_path, name).lstat().st_mtime)
            except FileNotFoundError:  # a store that is at work makes and drops files
                continue
    return newest

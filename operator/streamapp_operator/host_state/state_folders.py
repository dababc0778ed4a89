"""Edge: the folders below a root, as `<root>/<namespace>/<applicationId>` has them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from streamapp_operator.host_state.orphaned_folders import StateFolder
from streamapp_operator.reconciler.pods.state_volume import RUNTIME_USER


def prepare_root(root: Path) -> None:
    """Make the root there, and the user's in whose name drivers and executors run."""
    root.mkdir(parents=True, exist_ok=True)
    if (root.stat().st_uid, root.stat().st_gid) != (RUNTIME_USER, RUNTIME_USER):
        os.chown(root, RUNTIME_USER, RUNTIME_USER)


def app_folders(root: Path) -> Iterator[StateFolder]:
    """Every app's folder below a root. What is a link, or no folder, is nobody's."""
    for namespace in _folders(root):
        for app in _folders(namespace):
            yield StateFolder(namespace.name, app.name, str(app), _touched(app))


def remove_folder(folder: StateFolder) -> None:
    """Take a folder away with all that is in it; links in it are not followed."""
    shutil.rmtree(folder.path)


def _folders(within: Path) -> list[Path]:
    return sorted(Path(entry.path) for entry in os.scandir(within) if entry.is_dir(follow_symlinks=False))


def _touched(folder: Path) -> float:
    """When anything in it was last written."""
    newest = folder.lstat().st_mtime
    for where, folders, files in os.walk(folder):
        for name in (*folders, *files):
            try:
                newest = max(newest, Path(where, name).lstat().st_mtime)
            except FileNotFoundError:  # a store that is at work makes and drops files
                continue
    return newest

"""Edge: the state folders of a root, `<root>/<namespace>/<applicationId>`, and their marks beside them.

Marks lie in `<root>/.streamapp/<namespace>/<applicationId>.json`, where no pod of an app can write. Every
folder is opened by its name within the folder above it, and a link is no folder.
"""

import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path

from streamapp.durable_forms import VersionRefusal
from streamapp_operator.host_state.folder_mark import FolderMark, mark_text, read_mark_text
from streamapp_operator.host_state.orphaned_folders import StateFolder

_MARKS = ".streamapp"  # no namespace begins with a dot
_SUFFIX = ".json"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_MOST_BYTES = 4_096
_MARKS_MODE = 0o755
_WRITABLE_BY_OTHERS = 0o022

_log = logging.getLogger("streamapp_operator.host_state")


def prepare_root(root: Path) -> None:
    """Create the root folder. Only the node's root may write in it: no link takes a folder's place."""
    root.mkdir(parents=True, exist_ok=True)
    with _folder(root) as opened:
        status, own = os.fstat(opened), (os.geteuid(), os.getegid())
        if (status.st_uid, status.st_gid) != own:
            os.fchown(opened, *own)
        if status.st_mode & _WRITABLE_BY_OTHERS:
            os.fchmod(opened, status.st_mode & 0o777 & ~_WRITABLE_BY_OTHERS)


def app_folders(root: Path) -> list[StateFolder]:
    """Every app's folder below a root. Links and files are skipped."""
    with _folder(root) as opened:
        return [
            StateFolder(str(root), namespace, name, touched, _read_mark(opened, namespace, name))
            for namespace in _folder_names(opened)
            if not namespace.startswith(".")
            for name, touched in _touched_folders(opened, namespace)
        ]


def write_mark(folder: StateFolder, mark: FolderMark) -> None:
    """Mark a folder as this app's."""
    name = folder.application_id + _SUFFIX
    with _folder(folder.root) as root, _made(_MARKS, root) as marks, _made(folder.namespace, marks) as opened:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(f"{name}.new", flags, 0o644, dir_fd=opened), "w", encoding="utf-8") as file:
            file.write(mark_text(mark))
        os.replace(f"{name}.new", name, src_dir_fd=opened, dst_dir_fd=opened)


def remove_folder(folder: StateFolder) -> None:
    """Remove a folder with its content, and its mark after that; links in it are not followed."""
    with _folder(folder.root) as root:
        with _folder(folder.namespace, root) as namespace:
            shutil.rmtree(folder.application_id, dir_fd=namespace)
        _remove_mark(root, folder.namespace, folder.application_id + _SUFFIX)


def remove_stray_marks(root: Path, folders: Iterable[StateFolder]) -> None:
    """Remove marks whose folder is not there: another folder that takes the name is not the same one."""
    in_root = [folder for folder in folders if folder.root == str(root)]
    expected = {(folder.namespace, folder.application_id + _SUFFIX) for folder in in_root}
    with _folder(root) as opened, suppress(FileNotFoundError), _folder(_MARKS, opened) as marks:
        for namespace in _folder_names(marks):
            with _folder(namespace, marks) as in_namespace, os.scandir(in_namespace) as entries:
                files = [entry.name for entry in entries]
            for file in files:
                if (namespace, file) not in expected:
                    _remove_mark(opened, namespace, file)


@contextmanager
def _folder(path: Path | str, within: int | None = None) -> Iterator[int]:
    """An open folder; within another one an OSError where the name is a link or no folder's."""
    opened = os.open(path, _FOLDER if within is None else _FOLDER | os.O_NOFOLLOW, dir_fd=within)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def _made(name: str, within: int) -> Iterator[int]:
    with suppress(FileExistsError):
        os.mkdir(name, _MARKS_MODE, dir_fd=within)
    with _folder(name, within) as opened:
        yield opened


def _folder_names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))


def _touched_folders(root: int, namespace: str) -> Iterator[tuple[str, float]]:
    with suppress(FileNotFoundError), _folder(namespace, root) as opened:
        for name in _folder_names(opened):
            yield name, _touched(opened, name)


def _touched(namespace: int, name: str) -> float:
    """The time of the last write below a folder; infinite where that cannot be known."""
    try:
        newest = os.stat(name, dir_fd=namespace, follow_symlinks=False).st_mtime
        for _, folders, files, opened in os.fwalk(name, dir_fd=namespace):
            for each in (*folders, *files):
                with suppress(FileNotFoundError):  # a store that is at work makes and drops files
                    newest = max(newest, os.stat(each, dir_fd=opened, follow_symlinks=False).st_mtime)
    except (OSError, RecursionError) as error:  # an app may nest folders as deep as it likes
        _log.warning("left alone: %s cannot be read: %s", name, error)
        return inf
    return newest


def _read_mark(root: int, namespace: str, application_id: str) -> FolderMark | VersionRefusal | None:
    flags, name = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, application_id + _SUFFIX
    with (
        suppress(FileNotFoundError),
        _folder(_MARKS, root) as marks,
        _folder(namespace, marks) as opened,
        os.fdopen(os.open(name, flags, dir_fd=opened), "rb") as file,
    ):
        return read_mark_text(file.read(_MOST_BYTES).decode(errors="replace"))
    return None


def _remove_mark(root: int, namespace: str, file: str) -> None:
    with suppress(FileNotFoundError), _folder(_MARKS, root) as marks:
        with _folder(namespace, marks) as opened:
            os.unlink(file, dir_fd=opened)
        with suppress(OSError):  # others of the namespace have a mark
            os.rmdir(namespace, dir_fd=marks)

"""The files in a store's directory beside the lock: which kind and form of store it is, and its data.

`form` is written before there is data and goes before the data does, so data without it is a store that was
half made or half removed. `unsynced` names the boot on which an LMDB store was opened without syncing, and
goes when the store has been closed well. Found after another boot it says that pages may be missing.
"""

import json
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from streamapp.durable_forms import VersionRefusal
from streamapp_runtime.runtime_durable_forms import STORE_FORM
from streamapp_runtime.stores.store import StoreDamagedError


def prepare_data(directory: Path, kind: str) -> Path:
    """The data directory of a store, made where there is none; StoreDamagedError where it is not trusted."""
    form, data = directory / "form", directory / "data"
    if form.exists():
        _check(form, kind)
    elif data.exists():
        raise StoreDamagedError(f"{directory} was left half made, or half removed")
    else:
        fresh = directory / "form.new"
        fresh.write_text(json.dumps({"form": STORE_FORM.version, "kind": kind}), "utf-8")
        fresh.replace(form)
    data.mkdir(exist_ok=True)
    return data


def remove_data(directory: Path) -> None:
    """Take a store away. A crash at any moment leaves what `prepared` refuses or recreates."""
    for name in ("form", "unsynced"):
        (directory / name).unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        (directory / "data").rename(directory / f"gone-{uuid4().hex}")
    delete_removed_data(directory)


def delete_removed_data(directory: Path) -> None:
    """Delete what was taken away earlier."""
    for removed_folder in directory.glob("gone-*"):
        shutil.rmtree(removed_folder, ignore_errors=True)


def begin_unsynced(directory: Path, boot: str) -> None:
    """Note that writes may be in memory only; StoreDamagedError when that was so as another boot ended."""
    boot_file = directory / "unsynced"
    with suppress(FileNotFoundError):
        if boot_file.read_text("utf-8") != boot:
            message = f"the machine stopped, or {directory} moved, before its writes were synced"
            raise StoreDamagedError(message)
        return
    fresh = directory / "unsynced.new"
    fresh.write_text(boot, "utf-8")
    fresh.replace(boot_file)


def end_unsynced(directory: Path) -> None:
    """Note that everything is on disk."""
    (directory / "unsynced").unlink(missing_ok=True)


def _check(form: Path, kind: str) -> None:
    try:
        content = json.loads(form.read_text("utf-8"))
        number, stored_kind = int(content["form"]), str(content["kind"])
    except (ValueError, TypeError, KeyError) as error:
        raise StoreDamagedError(f"{form} cannot be read") from error
    version = STORE_FORM.read_version(number, str(form))
    if isinstance(version, VersionRefusal):
        raise StoreDamagedError(version.message, version.reason)
    if stored_kind != kind:
        raise StoreDamagedError(f"{form} is of a {stored_kind} store, expected was {kind}")

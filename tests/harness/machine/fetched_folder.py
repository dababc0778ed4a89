"""Folders in the cache that are fetched once for this machine, as those of servers that tests run."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def fetched_folder(name: str, fetch: Callable[[Path], Path]) -> Path:
    """The folder of this name; `fetch` fills one below an empty folder, where it is not there yet.

    It is renamed when complete, so that a fetch that was cut short is not taken for the whole.
    """
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = caches / "streamapp" / name
    if home.exists():
        return home
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as unfinished:
        complete = fetch(Path(unfinished))
        try:
            complete.rename(home)
        except OSError:
            if not home.exists():  # another process was faster
                raise
    return home

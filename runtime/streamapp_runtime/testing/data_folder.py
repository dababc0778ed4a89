"""The folder of the streams and stores of an app under test: in memory where the machine offers that."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
_ENOUGH: Final = 1 << 30
"""So many bytes have to be free there: containers have little, and a test is to find as much as it wants."""


def data_folder() -> "TemporaryDirectory[str]":
    """A folder that goes when the app is closed."""
    place = str(_MEMORY) if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free >= _ENOUGH else None
    return TemporaryDirectory(prefix="streamapp-test-", dir=place, ignore_cleanup_errors=True)

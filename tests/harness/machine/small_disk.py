"""A disk of its own for a process under test, which can be filled up and freed again."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Final

_MEGABYTES: Final = 96
_CHUNK: Final = bytes(1 << 16)
_MOUNT, _UNMOUNT = shutil.which("mount"), shutil.which("umount")


class NoDiskError(Exception):
    """This machine lets nobody mount a disk; the message says what it lacks."""


class SmallDisk:
    """A file system in memory at a folder, until `close`."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0 or _MOUNT is None:
            raise NoDiskError("to mount a small disk needs root and mount (Debian: apt-get install mount)")
        folder.mkdir(parents=True)
        mount = [_MOUNT, "-t", "tmpfs", "-o", f"size={_MEGABYTES}m", "tmpfs", str(folder)]
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
        if mounted.returncode:
            raise NoDiskError(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        self._folder = folder
        self._filling = folder / "filling"

    def fill(self) -> None:
        """Leave no byte free."""
        with suppress(OSError), self._filling.open("wb", buffering=0) as file:
            while True:
                file.write(_CHUNK)

    def free(self) -> None:
        self._filling.unlink(missing_ok=True)

    def close(self) -> None:
        """Unmount it; what uses it has ended."""
        assert _UNMOUNT
        subprocess.run([_UNMOUNT, str(self._folder)], check=True)

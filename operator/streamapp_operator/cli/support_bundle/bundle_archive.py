"""The archive: the same files make the same bytes, and nobody but its owner can read it."""

import gzip
import io
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

OWNER_ALONE: Final = 0o600


def archive_bytes(root: str, files: Mapping[str, str]) -> bytes:
    """A gzip-compressed tar archive of these files in one folder."""
    content = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=content, mode="wb", filename="", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            data = files[name].encode(errors="replace")
            entry = tarfile.TarInfo(f"{root}/{name}")
            entry.size, entry.mode = len(data), OWNER_ALONE
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def write_new_file(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read; a FileExistsError where there is one of that name."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ALONE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)

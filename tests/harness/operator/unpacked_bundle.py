"""The archive that `streamapp bundle` writes, as its reader has it."""

import gzip
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class UnpackedBundle:
    """Its bytes without compression, and its files by name."""

    content: bytes
    files: dict[str, str]

    @classmethod
    def read(cls, path: Path) -> "UnpackedBundle":
        with tarfile.open(path) as archive:
            files = {
                entry.name.partition("/")[2]: archive.extractfile(entry).read().decode()  # type: ignore[union-attr]
                for entry in archive.getmembers()
            }
        return cls(gzip.decompress(path.read_bytes()), files)

    def json(self, name: str) -> Any:
        return json.loads(self.files[name])

    @property
    def index(self) -> Any:
        return self.json("index.json")

    @property
    def unread(self) -> dict[str, str]:
        return {part["name"]: part["cause"] for part in self.index["notRead"]}

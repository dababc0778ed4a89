"""A disk that may lose, when power goes, whatever was not made durable: in every way in which it may."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path


class PowerLostError(BaseException):
    """The machine went out: no handler for ordinary errors runs any more."""


@dataclass(eq=False)
class File:
    content: bytes = b""
    durable: bytes = b""


@dataclass(eq=False)
class Directory:
    names: dict[str, "File | Directory"] = field(default_factory=dict)
    durable: dict[str, "File | Directory"] = field(default_factory=dict)
    # Each change gives names to files, or takes a name away; until the next fsync any of them may be lost.
    changes: list[dict[str, "File | Directory | None"]] = field(default_factory=list)

    def change(self, names: dict[str, "File | Directory | None"]) -> None:
        self.changes.append(names)
        self.names = _changed(self.names, names)


class Disk:
    """A `System` over a directory of such a disk. Power goes at the call of this number."""

    def __init__(self, top: Directory, calls: int) -> None:
        self._top = top
        self._calls = calls
        self._opened: list[File | Directory] = []
        self._read: set[int] = set()

    def mkdir(self, path: Path) -> None:
        self._call()
        parent = self._directory(path.parent)
        if path.name in parent.names:
            raise FileExistsError(path)
        parent.change({path.name: Directory()})

    def open(self, path: Path, flags: int) -> int:
        self._call()
        found: File | Directory | None = self._top
        if path.parts:
            parent = self._directory(path.parent)
            found = parent.names.get(path.name)
            if found is None and flags & os.O_CREAT:
                found = File()
                parent.change({path.name: found})
        if found is None:
            raise FileNotFoundError(path)
        if isinstance(found, File) and flags & os.O_TRUNC:
            found.content = b""
        self._opened.append(found)
        return len(self._opened) - 1

    def lock(self, file: int) -> None:
        self._call()

    def read(self, file: int, length: int) -> bytes:
        self._call()
        opened = self._opened[file]
        assert isinstance(opened, File)
        assert len(opened.content) < length
        content = b"" if file in self._read else opened.content
        self._read.add(file)
        return content

    def write(self, file: int, content: memoryview) -> int:
        self._call()
        opened = self._opened[file]
        assert isinstance(opened, File)
        written = len(content) // 2 or 1
        opened.content += content[:written]
        return written

    def fsync(self, file: int) -> None:
        self._call()
        match self._opened[file]:
            case File() as opened:
                opened.durable = opened.content
            case Directory() as opened:
                opened.durable = opened.names
                opened.changes = []

    def replace(self, source: Path, target: Path) -> None:
        self._call()
        parent = self._directory(source.parent)
        parent.change({source.name: None, target.name: parent.names[source.name]})

    def unlink(self, path: Path) -> None:
        self._call()
        self._directory(path.parent).change({path.name: None})

    def close(self, file: int) -> None:
        self._call()

    def _call(self) -> None:
        self._calls -= 1
        if self._calls < 0:
            raise PowerLostError

    def _directory(self, path: Path) -> Directory:
        found: File | Directory | None = self._top
        for name in path.parts:
            found = found.names.get(name) if isinstance(found, Directory) else None
        if not isinstance(found, Directory):
            raise FileNotFoundError(path)
        return found


def after_power_loss(top: Directory) -> Iterator[Directory]:
    """Every disk that may be found when the power is back."""
    for length in range(len(top.changes) + 1):
        for kept in combinations(top.changes, length):
            names = top.durable
            for change in kept:
                names = _changed(names, change)
            for found in product(*(_outcomes(child) for child in names.values())):
                survived = dict(zip(names, found, strict=True))
                yield Directory(survived, survived)


def _outcomes(child: File | Directory) -> list[File | Directory]:
    if isinstance(child, Directory):
        return list(after_power_loss(child))
    contents = {child.durable, child.content}
    if child.durable != child.content:
        contents.add(child.content[: len(child.content) // 2])
    return [File(content, content) for content in contents]


def _changed(
    names: dict[str, File | Directory], change: dict[str, File | Directory | None]
) -> dict[str, File | Directory]:
    return {name: found for name, found in (names | change).items() if found}

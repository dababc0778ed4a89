"""The options of `streamapp dev` that a developer gave, and the outcomes of a version of the app."""

import os
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from streamapp.cli.facts.count_options import CountOptions


class VersionOutcome(IntEnum):
    """The outcome of the process of a version; its exit code."""

    DONE = 0  # with --once: everything was processed
    PROBLEM = 1  # something is wrong with the app, its code or its data, and has been printed
    MISUSE = 2  # an option does not fit the app
    REPLAY = 3  # data have changed other than by lines at their end
    LEFT = 4  # the user has ended it in the debugger
    CLOSED_PIPE = 141  # the reader of the output has gone, as by SIGPIPE


class UnfitOptionError(Exception):
    """An option does not fit the app; the message says which and why."""


@dataclass(frozen=True, slots=True)
class DataOption:
    """A `--data`: a file for one stream, or a folder of files that are named after streams."""

    path: Path
    stream: str | None = None  # None: by the names of files


@dataclass(frozen=True, slots=True)
class SampleRows:
    """The rows that streams without data get: how many, and how far apart in event time."""

    rows: int
    every_seconds: float


@dataclass(frozen=True, slots=True)
class DevOptions:
    """The options of one `streamapp dev`."""

    app: str
    name: str | None
    data: tuple[DataOption, ...]
    shown: tuple[str, ...]  # streams and operators; the outputs where it is empty
    tables: tuple[str, ...]
    counts: CountOptions
    made_up: SampleRows
    limit: int  # rows of a stream that are printed at once
    watched: tuple[Path, ...]  # files that the app reads by itself
    once: bool

    @property
    def folder(self) -> Path:
        """The app's folder, where its own modules are."""
        return Path(self.app).resolve().parent

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are named on the command line and whose change takes a new version."""
        catalog = () if self.counts.catalog is None else (self.counts.catalog,)
        return tuple(path.absolute() for path in (Path(self.app), *catalog, *self.watched))


def display_path(path: Path) -> str:
    """A path as short as it can be said from here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative

"""The watching process: starts a version of the app, and another one when its files have changed."""

import gc
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import click

from streamapp_runtime.cli.dev_loop.dev_options import DevOptions, VersionOutcome, display_path
from streamapp_runtime.cli.dev_loop.version_process import TerminalSettings, VersionProcess, VersionReport
from streamapp_runtime.cli.dev_loop.version_run import run_version
from streamapp_runtime.cli.dev_loop.watched_files import LOOK_SECONDS, WatchedFiles, stamp_of
from streamapp_runtime.testing.data_folder import data_folder

_JUST_SAVED_SECONDS: Final = 2.0
"""A time of a file that is older says nothing of when it was saved here: a checkout may keep times."""

Changes = frozenset[Path]


@dataclass(slots=True)
class DevSupervisor:
    """Runs versions, one after another."""

    options: DevOptions
    files: WatchedFiles = field(default_factory=WatchedFiles)
    data: set[Path] = field(default_factory=set)
    _ahead: VersionProcess | None = None  # the next version, with Spark ready, where the last one needed it
    _terminal: TerminalSettings = field(default_factory=TerminalSettings)

    def run(self) -> int:
        """Run until interrupted; the exit code."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)
        self.files.add(self.options.files)
        gc.freeze()  # forks share these objects, and no collection writes to them
        try:
            with data_folder() as folder:
                return self._run_versions(Path(folder))
        except KeyboardInterrupt:
            click.echo("\n" * sys.stderr.isatty() + f"{self.options.app}: ended", err=True)
            return 0

    def _run_versions(self, folder: Path) -> int:
        saved_at: float | None = None
        places = (folder / f"version-{number}" for number in count(1))
        is_first = True
        try:
            while True:
                version, self._ahead = self._ahead or self._forked(next(places), is_ahead=False), None
                try:
                    begun_ns = time.time_ns()
                    version.begin(saved_at)
                    if version.is_ahead and not version.new_reports(0.0):
                        self._say("waits for Spark, which is still starting")
                    changes = self._changes_during(version, begun_ns, places, is_first=is_first)
                finally:
                    try:
                        version.end()
                    finally:
                        self._terminal.restore()
                if isinstance(changes, int):
                    return changes
                is_first = False
                saved_at = _saved_at(changes) if changes else None
                self._print_heading(changes)
        finally:
            if self._ahead is not None:
                self._ahead.end()

    def _forked(self, place: Path, *, is_ahead: bool) -> VersionProcess:
        run = partial(run_version, self.options, place, is_ahead)
        return VersionProcess.start(run, place, is_ahead=is_ahead)

    def _changes_during(
        self, version: VersionProcess, begun_ns: int, places: Iterator[Path], *, is_first: bool
    ) -> Changes | int:
        """The files whose change takes a new version, or the exit code of the command."""
        has_ended = False
        while True:
            for report in version.new_reports(LOOK_SECONDS):
                self._note(report, begun_ns)
                if report.needs_spark and self._ahead is None and not self.options.once:
                    self._ahead = self._forked(next(places), is_ahead=True)
            if not has_ended and version.poll() is not None:
                has_ended = True
                while reports := version.last_reports():
                    for report in reports:
                        self._note(report, begun_ns)
                answer = self._answer_to_end(version.code or 0, is_first=is_first)
                if answer is not None:
                    return answer
            changes = self.files.take_settled_changes(time.monotonic, time.sleep)
            if changes and changes <= self.data and version.poll() is None:
                version.note_data()
            elif changes:
                return changes

    def _note(self, report: VersionReport, read_since_ns: int) -> None:
        self.files.add([*report.files, *report.data], read_since_ns)
        self.data.update(report.data)

    def _answer_to_end(self, code: int, *, is_first: bool) -> Changes | int | None:
        """The changes to run next, or the exit code, after a version has ended; None: wait for a change."""
        if code == VersionOutcome.REPLAY:
            return frozenset()
        if code == VersionOutcome.CLOSED_PIPE or (code == VersionOutcome.MISUSE and is_first):
            return code
        if code < 0 or code not in set(VersionOutcome):
            how = (
                f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}, by its own code"
            )
            click.echo(f"{self.options.app}: the process of the app ended {how}", err=True)
        if self.options.once:
            return code if code in (VersionOutcome.DONE, VersionOutcome.MISUSE) else VersionOutcome.PROBLEM
        self._say("waits for a saved file; Ctrl-C ends it")
        return None

    def _say(self, text: str) -> None:
        click.secho(f"{self.options.app}: {text}", err=True, dim=True)

    def _print_heading(self, changes: Changes) -> None:
        """Begin another version: on a terminal at the top."""
        if sys.stdout.isatty():
            click.clear()
        names = ", ".join(sorted(map(display_path, changes))) or "the data, from the start"
        click.secho(f"{self.options.app}: changed: {names}", err=True, bold=True)


def _saved_at(changes: Iterable[Path]) -> float:
    """The time at which the newest of these files was saved, by the wall clock."""
    now = time.time()
    times = [stamp[0] / 1e9 for path in changes if (stamp := stamp_of(path)) is not None]
    return max([saved for saved in times if now - _JUST_SAVED_SECONDS < saved <= now], default=now)

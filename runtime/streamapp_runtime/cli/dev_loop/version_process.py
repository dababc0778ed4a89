"""The process of one version of the app: a fork of the watching process, and what the two tell each other."""

import atexit
import json
import os
import select
import shutil
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

GRACE_SECONDS: Final = 1.0
"""So long a version may take to end by itself."""
_LOOK_SECONDS: Final = 0.01
_DATA: Final = b"data\n"
_ENDING: Final = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
"""The signals that end the watching process or a version."""


class VersionStoppedError(BaseException):
    """The watching process has asked this version to end. No handler of the app's own code is to catch it."""


@dataclass(frozen=True, slots=True)
class VersionReport:
    """A report of a version to the watching process."""

    files: tuple[Path, ...]
    data: tuple[Path, ...]
    needs_spark: bool

    def encode(self) -> bytes:
        """As one line."""
        return json.dumps([list(map(str, self.files)), list(map(str, self.data)), self.needs_spark]).encode()

    @classmethod
    def decode(cls, line: bytes) -> "VersionReport":
        """From such a line."""
        files, data, needs_spark = json.loads(line)
        return cls(tuple(map(Path, files)), tuple(map(Path, data)), needs_spark)


@dataclass(frozen=True, slots=True)
class VersionChannel:
    """The ends of the pipes to the watching process that the process of a version holds."""

    orders: int
    reports: int

    def report(
        self, *, files: Iterable[Path] = (), data: Iterable[Path] = (), needs_spark: bool = False
    ) -> None:
        """Say which files to watch, of the version and of its data, and whether Spark is needed."""
        report = VersionReport(tuple(files), tuple(data), needs_spark)
        os.write(self.reports, report.encode() + b"\n")

    def wait(self) -> bool:
        """Wait until data have changed; False where the watching process has ended."""
        return bool(os.read(self.orders, 1 << 16))

    @property
    def is_abandoned(self) -> bool:
        """True if the watching process was killed. One that ends a version closes the pipe afterwards."""
        while select.select([self.orders], [], [], 0.0)[0]:
            if not os.read(self.orders, 1 << 16):
                return True
        return False

    def wait_for_start(self) -> float | None:
        """Wait until this version is to run, and give the time of the save."""
        line = b""
        while not line.endswith(b"\n"):
            if not (byte := os.read(self.orders, 1)):
                raise VersionStoppedError
            line += byte
        saved_at: float | None = json.loads(line)
        return saved_at


@dataclass(slots=True)
class VersionProcess:
    """The watching process's side."""

    pid: int
    orders: int
    reports: int
    folder: Path
    is_ahead: bool  # whether it was started before there was something for it to run
    code: int | None = None  # of its exit; negative for a signal
    _unread: bytes = field(default=b"", repr=False)

    @classmethod
    def start(cls, run: Callable[[VersionChannel], int], folder: Path, *, is_ahead: bool) -> "VersionProcess":
        """Fork. The child runs the function and ends with the code that it returns."""
        orders_end, orders = os.pipe()
        reports, reports_end = os.pipe()
        folder.mkdir()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        # An interrupt within the fork would be raised in a hook of it, where it is lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        pid = os.fork()
        if pid == 0:
            os.close(orders)
            os.close(reports)
            _run_and_exit(run, VersionChannel(orders_end, reports_end))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        os.close(orders_end)
        os.close(reports_end)
        return cls(pid, orders, reports, folder, is_ahead)

    def begin(self, saved_at: float | None) -> None:
        """Have it run; `saved_at` is when its files were saved."""
        with suppress(BrokenPipeError):  # it has ended, and whoever looks sees that
            os.write(self.orders, json.dumps(saved_at).encode() + b"\n")

    def new_reports(self, seconds: float) -> list[VersionReport]:
        """The reports of the version within so many seconds; sleeps where it cannot report any more."""
        if self.code is not None:
            time.sleep(seconds)
            return []
        if not select.select([self.reports], [], [], seconds)[0]:
            return []
        block = os.read(self.reports, 1 << 16)
        if not block:
            time.sleep(_LOOK_SECONDS)  # it is about to end
        return self._reports(block)

    def last_reports(self) -> list[VersionReport]:
        """The reports from before the end of a version that has ended, a part at a time; empty at the end."""
        block = os.read(self.reports, 1 << 16)
        return self._reports(block) if block else []

    def _reports(self, block: bytes) -> list[VersionReport]:
        *lines, self._unread = (self._unread + block).split(b"\n")
        return [VersionReport.decode(line) for line in lines]

    def poll(self) -> int | None:
        """The code that it ended with; None while it runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def note_data(self) -> None:
        """Tell it that data have changed."""
        with suppress(BrokenPipeError):  # it has ended, and whoever looks sees that
            os.write(self.orders, _DATA)

    def end(self) -> None:
        """End it, by SIGTERM and then by SIGKILL, and take its streams and stores away.

        An interrupt meanwhile waits until nothing of it is left.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            self._end()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)

    def _end(self) -> None:
        deadline = time.monotonic() + GRACE_SECONDS
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.orders)
        os.close(self.reports)
        shutil.rmtree(self.folder, ignore_errors=True)


def _run_and_exit(run: Callable[[VersionChannel], int], channel: VersionChannel) -> None:
    """Be the version: nothing of the watching process runs in it, not even at its end."""
    code = 1
    atexit._clear()  # noqa: SLF001 - what the watching process has registered
    try:
        signal.signal(signal.SIGTERM, _raise_stopped)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
        code = run(channel)
    except (VersionStoppedError, KeyboardInterrupt):
        code = 0
    except BrokenPipeError:
        code = 128 + signal.SIGPIPE
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        atexit._run_exitfuncs()  # noqa: SLF001 - what the version has registered, as multiprocessing does
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                code = 128 + signal.SIGPIPE
        os._exit(code)


def _raise_stopped(*_: object) -> None:
    raise VersionStoppedError


class TerminalSettings:
    """The settings of the terminal, which a version that was ended in the debugger may have left changed."""

    def __init__(self) -> None:
        """Remember them, where standard input is a terminal."""
        self._input = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else None
        self._settings = None if self._input is None else termios.tcgetattr(self._input)

    def restore(self) -> None:
        """Set them as they were, unless the terminal belongs to another job by now."""
        if self._input is None or self._settings is None or os.tcgetpgrp(self._input) != os.getpgrp():
            return
        if termios.tcgetattr(self._input) != self._settings:
            termios.tcsetattr(self._input, termios.TCSANOW, self._settings)

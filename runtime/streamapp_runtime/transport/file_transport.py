"""Messages as files of a folder: the wanted state for `streamapp run`, and the reports of the run."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol.accepted_app import AcceptedApp, decode_accepted
from streamapp.protocol.driver_report import Report
from streamapp.protocol.message_names import ACCEPTED, CANDIDATE, REPORT, WANTED
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.wanted_state import WantedState, decode_wanted, encode_wanted
from streamapp_runtime.stores.directories.state_directory import quoted

FOLDER = "protocol"
T = TypeVar("T")


def message_folder(state: Path, application_id: str) -> Path:
    """The folder of an app's messages, beside the folder of its stores."""
    return state.parent / FOLDER / quoted(application_id)


@dataclass(slots=True)
class FileTransport:
    """The driver's end."""

    folder: Path
    _wanted: "_Message[WantedState]" = field(init=False)
    _accepted: "_Message[AcceptedApp]" = field(init=False)
    _candidate: "_Message[AcceptedApp]" = field(init=False)
    _report: Report | None = None  # as it was written last

    def __post_init__(self) -> None:
        self._wanted = _Message(self.folder / WANTED, decode_wanted)
        self._accepted = _Message(self.folder / ACCEPTED, decode_accepted)
        self._candidate = _Message(self.folder / CANDIDATE, decode_accepted)

    def begin(self) -> None:
        """Forget what was wanted of an earlier run: who starts one says how it is to be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / WANTED).unlink(missing_ok=True)

    def wanted(self) -> WantedState | None:
        """The state that is wanted now; a file that cannot be read changes nothing."""
        return self._wanted.newest()

    def incarnation(self) -> int:
        """No driver is numbered here."""
        return 0

    def accepted(self) -> AcceptedApp | None:
        """The newest accepted generation, where somebody puts any there."""
        return self._accepted.newest()

    def candidate(self) -> AcceptedApp | None:
        """The generation that the run is asked about, where somebody puts one there."""
        return self._candidate.newest()

    def report(self, report: Report) -> None:
        """Write a report that differs from the last one."""
        if report != self._report:
            _put(self.folder / REPORT, encode_report(report))
            self._report = report

    def close(self) -> None:
        """There is nothing to let go of."""


@dataclass(slots=True)
class _Message(Generic[T]):
    """A file that others replace, read again only when it is another one."""

    file: Path
    decode: Callable[[str], T]
    _version: tuple[int, int] | None = None  # when the file was written, and which one it is
    _value: T | None = None

    def newest(self) -> T | None:
        """The newest readable content; a file that cannot be read leaves the former value."""
        with suppress(OSError, UnreadableError):
            status = self.file.stat()
            if (version := (status.st_mtime_ns, status.st_ino)) != self._version:
                self._version = version
                self._value = self.decode(self.file.read_text("utf-8"))
        return self._value


def write_wanted(folder: Path, wanted: WantedState) -> None:
    """The other end: want something of the run whose folder this is."""
    _put(folder / WANTED, encode_wanted(wanted))


def read_report(folder: Path) -> Report | None:
    """The last report of a run; None where there is no readable report."""
    with suppress(OSError, UnreadableError):
        return decode_report((folder / REPORT).read_text("utf-8"))
    return None


def _put(file: Path, text: str) -> None:
    """A reader finds the old text or the new one, never a part of it."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    fresh.replace(file)

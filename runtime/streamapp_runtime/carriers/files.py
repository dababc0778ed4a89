"""Messages as files of a folder: how `streamapp run` is told things, and is asked how it goes."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from streamapp.jobmodel.unreadable import UnreadableError
from streamapp.protocol.places import REPORT, WANTED
from streamapp.protocol.report import Report
from streamapp.protocol.report_codec import decode_report, encode_report
from streamapp.protocol.wanted import Wanted, decode_wanted, encode_wanted
from streamapp_runtime.stores.directory import quoted

FOLDER = "protocol"


def folder_of(state: Path, application_id: str) -> Path:
    """Where an app's messages lie, beside the folder of its stores."""
    return state.parent / FOLDER / quoted(application_id)


@dataclass(slots=True)
class Files:
    """The driver's end."""

    folder: Path
    _seen: tuple[int, int] | None = None  # when the file was written, and which one it is
    _wanted: Wanted | None = None
    _said: str = field(default="")

    def begin(self) -> None:
        """Forget what was wanted of an earlier run: who starts one says how it is to be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / WANTED).unlink(missing_ok=True)

    def wanted(self) -> Wanted | None:
        """What is wanted now; a file that cannot be read changes nothing."""
        file = self.folder / WANTED
        try:
            found = file.stat()
            if (seen := (found.st_mtime_ns, found.st_ino)) != self._seen:
                self._seen = seen
                with suppress(UnreadableError):
                    self._wanted = decode_wanted(file.read_text("utf-8"))
        except OSError:
            return self._wanted
        return self._wanted

    def report(self, report: Report) -> None:
        """Write it, if it says anything new."""
        text = encode_report(report)
        if text != self._said:
            _put(self.folder / REPORT, text)
            self._said = text

    def close(self) -> None:
        """There is nothing to let go of."""


def ask(folder: Path, wanted: Wanted) -> None:
    """The other end: want something of the run whose folder this is."""
    _put(folder / WANTED, encode_wanted(wanted))


def last_report(folder: Path) -> Report | None:
    """What a run said last; None where none has, or nothing that can be read."""
    with suppress(OSError, UnreadableError):
        return decode_report((folder / REPORT).read_text("utf-8"))
    return None


def _put(file: Path, text: str) -> None:
    """A reader finds the old text or the new one, never a part of it."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text, "utf-8")
    fresh.replace(file)

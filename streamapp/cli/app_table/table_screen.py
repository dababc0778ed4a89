"""A terminal that shows lines in place: on its other screen, so that the one before comes back as it was."""

import os
import select
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Final, TextIO

import click

_OTHER_SCREEN: Final = "\x1b[?1049h\x1b[?25l"
_FORMER_SCREEN: Final = "\x1b[?25h\x1b[?1049l"
_HOME: Final = "\x1b[H"
_REST_OF_LINE: Final = "\x1b[K"
_REST_OF_SCREEN: Final = "\x1b[J"
_USUAL_SIZE: Final = os.terminal_size((80, 24))


@dataclass(frozen=True, slots=True)
class ScreenLine:
    """One line, and how it stands out where colours are wanted."""

    text: str
    bold: bool = False
    colour: str | None = None


def is_screen(stream: TextIO) -> bool:
    """True if a stream is a terminal on which lines can be shown in place: a log of CI is none."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")


@dataclass(slots=True)
class TableScreen:
    """A terminal while it shows lines in place."""

    stream: TextIO
    _resized: int  # a pipe that can be read when the terminal has another size

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines; the usual ones of a terminal that does not know its own."""
        size = os.get_terminal_size(self.stream.fileno())
        return size if size.columns and size.lines else _USUAL_SIZE

    def show(self, lines: Sequence[ScreenLine]) -> None:
        """Write lines over those that are there; the last line says how many more there would be."""
        rows = self.size.lines
        if len(lines) > rows:
            lines = [*lines[: rows - 1], ScreenLine(f"and {len(lines) - rows + 1} more lines")]
        styled = "\n".join(_styled(line) + _REST_OF_LINE for line in lines)
        self.stream.write(_HOME + styled + _REST_OF_SCREEN)
        self.stream.flush()

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until the terminal has another size, which is True."""
        if not select.select([self._resized], [], [], seconds)[0]:
            return False
        os.read(self._resized, select.PIPE_BUF)
        return True


@contextmanager
def table_screen(stream: TextIO) -> Iterator[TableScreen]:
    """Show lines in place for as long as this lasts, however it ends: SIGTERM ends it, Ctrl-Z pauses it."""
    resized, tell_resized = os.pipe()
    os.set_blocking(tell_resized, False)
    former_handlers = {
        number: signal.signal(number, handler)
        for number, handler in (
            (signal.SIGWINCH, _ignored),
            (signal.SIGTERM, _end),
            (signal.SIGTSTP, partial(_pause, stream.fileno())),
        )
    }
    former_wakeup = signal.set_wakeup_fd(tell_resized, warn_on_full_buffer=False)
    try:
        stream.write(_OTHER_SCREEN)
        yield TableScreen(stream, resized)
    finally:
        stream.write(_FORMER_SCREEN)
        stream.flush()
        signal.set_wakeup_fd(former_wakeup)
        for number, handler in former_handlers.items():
            signal.signal(number, handler)
        os.close(resized)
        os.close(tell_resized)


def _styled(line: ScreenLine) -> str:
    if os.environ.get("NO_COLOR"):
        return line.text
    return click.style(line.text, bold=line.bold, fg=line.colour) if line.bold or line.colour else line.text


def _ignored(_: int, __: FrameType | None) -> None:
    """A signal that only wakes."""


def _pause(terminal: int, number: int, _: FrameType | None) -> None:
    """Give the former screen back while the process is stopped, past a buffer that may be in use."""
    os.write(terminal, _FORMER_SCREEN.encode())
    pausing = signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)  # goes on from here once it is continued
    signal.signal(number, pausing)
    os.write(terminal, _OTHER_SCREEN.encode())


def _end(number: int, _: FrameType | None) -> None:
    sys.exit(128 + number)

"""A command at a terminal of the tests: what is on its screen, keys, and sizes of the terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_SECONDS = 60.0
NOT_INHERITED = frozenset({"NO_COLOR", "COLUMNS", "LINES", "CI"})
"""What would have a command not use its terminal, or not look at its size."""
FRAME = re.compile(r"\x1b\[H(.*?)\x1b\[J", re.DOTALL)
"""One table that is written over the one before."""
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(slots=True)
class TerminalProcess:
    """A running command whose terminal the test holds."""

    process: subprocess.Popen[bytes]
    leader: int
    _content: bytearray = field(default_factory=bytearray)

    @property
    def raw(self) -> str:
        """All that was written so far."""
        return self._content.decode(errors="replace")

    def frames(self) -> list[str]:
        """The tables that were shown, without colours."""
        return [_CONTROLS.sub("", frame).replace("\r\n", "\n") for frame in FRAME.findall(self.raw)]

    def has_colours(self) -> bool:
        return _COLOURS.search(self.raw) is not None

    def until_raw(self, condition: Callable[[str], bool]) -> str:
        """What was written, once a condition holds of it."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not condition(self.raw):
            left = deadline - time.monotonic()
            assert left > 0, f"not within {LONGEST_SECONDS:g} s: {self.raw[-2000:]!r}"
            assert self._read(left), f"it ended before: {self.raw[-2000:]!r}"
        return self.raw

    def until_frame(self, condition: Callable[[str], bool]) -> str:
        """The newest table, once a condition holds of one that is shown from now on."""
        shown = len(self.frames())
        self.until_raw(lambda _: any(map(condition, self.frames()[shown:])))
        return self.frames()[-1]

    def resize(self, columns: int, lines: int) -> None:
        termios.tcsetwinsize(self.leader, (lines, columns))

    def press_ctrl_c(self) -> int:
        """Type Ctrl-C; the exit code."""
        os.write(self.leader, b"\x03")
        return self.ended()

    def signal(self, number: signal.Signals) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Read what is left; the exit code."""
        while self._read(LONGEST_SECONDS):
            pass
        return self.process.wait(LONGEST_SECONDS)

    def _read(self, seconds: float) -> bool:
        if not select.select([self.leader], [], [], seconds)[0]:
            return True
        try:
            block = os.read(self.leader, 1 << 16)
        except OSError:  # the other side is closed
            return False
        self._content += block
        return bool(block)


@contextmanager
def terminal_process(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    size: tuple[int, int] = (120, 40),
) -> Iterator[TerminalProcess]:
    """Start a command at a terminal of so many columns and lines, and end it."""
    leader, inner = pty.openpty()
    termios.tcsetwinsize(inner, (size[1], size[0]))
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    process = subprocess.Popen(
        command,
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        env={**inherited, "TERM": "xterm-256color", **(environment or {})},
        preexec_fn=_take_terminal,  # noqa: PLW1509 - it only makes one system call
    )
    os.close(inner)
    try:
        yield TerminalProcess(process, leader)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(LONGEST_SECONDS)
        os.close(leader)


def _take_terminal() -> None:
    """Make standard input the terminal that the process belongs to, so that Ctrl-C reaches it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

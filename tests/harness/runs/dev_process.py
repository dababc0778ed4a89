"""`streamapp dev` as a child of the tests: what it prints, with or without a terminal."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = Path(sys.executable).with_name("streamapp")
READY = "Ctrl-C ends it"
"""How the last line of each version ends, whether it runs or waits for a fix."""
LONGEST_SECONDS = 60.0
_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(slots=True)
class DevProcess:
    """A running command; its two outputs are read as one."""

    process: subprocess.Popen[bytes]
    output: int
    unread: str = ""

    def until(self, text: str = READY) -> str:
        """What it prints, up to a text."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while text not in self.unread:
            left = deadline - time.monotonic()
            assert left > 0, f"no {text!r} in {self.unread!r}"
            if select.select([self.output], [], [], left)[0]:
                block = self._read()
                assert block, f"it ended without {text!r}: {self.unread!r}"
                self.unread += _COLOURS.sub("", block.decode()).replace("\r\n", "\n")
        end = self.unread.index(text) + len(text)
        printed, self.unread = self.unread[:end], self.unread[end:]
        return printed

    def type(self, text: str) -> None:
        """Type at the terminal."""
        os.write(self.output, text.encode())

    def interrupt(self) -> int:
        """Interrupt it as Ctrl-C does, and give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(LONGEST_SECONDS)

    def children(self) -> list[int]:
        """The processes that it started."""
        text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text("utf-8")
        return [int(pid) for pid in text.split()]

    def _read(self) -> bytes:
        try:
            return os.read(self.output, 1 << 16)
        except OSError:  # of a terminal whose other side is closed
            return b""


@contextmanager
def dev_process(folder: Path, *arguments: str, terminal: bool = False) -> Iterator[DevProcess]:
    """Start `streamapp dev` in a folder, and end it."""
    output, inner = pty.openpty() if terminal else os.pipe()
    process = subprocess.Popen(
        [COMMAND, "dev", *arguments],
        cwd=folder,
        stdin=inner if terminal else subprocess.DEVNULL,
        stdout=inner,
        stderr=inner,
        start_new_session=terminal,
        env={name: value for name, value in os.environ.items() if name != "PYTHONBREAKPOINT"},
        preexec_fn=_take_terminal if terminal else None,  # noqa: PLW1509 - one thread starts it
    )
    os.close(inner)
    try:
        yield DevProcess(process, output)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(LONGEST_SECONDS)
        os.close(output)


def _take_terminal() -> None:
    """Make standard input the terminal that the process belongs to, as a shell does."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

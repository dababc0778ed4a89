"""Wakes up a thread that lets time pass, from any other thread, also while it waits for sockets."""

import select
import socket
import weakref
from contextlib import suppress
from typing import Final

_READ_BYTES: Final = 4_096


class WakeUp:
    """Set once or more until it is cleared; it can be read while it is set."""

    def __init__(self) -> None:
        self._receiver, self._sender = socket.socketpair()
        self._receiver.setblocking(False)
        self._sender.setblocking(False)
        weakref.finalize(self, _close, self._receiver, self._sender)

    def fileno(self) -> int:
        """The file descriptor that can be read while this is set."""
        return self._receiver.fileno()

    def set(self) -> None:
        """Wake up who waits, or who waits next."""
        with suppress(BlockingIOError):  # it is set a thousand times over
            self._sender.send(b"\0")

    def clear(self) -> None:
        """Let the next wait be one."""
        with suppress(BlockingIOError):
            while self._receiver.recv(_READ_BYTES):
                pass

    def wait(self, seconds: float) -> bool:
        """Return when this is set, or after so long; whether it is set."""
        poll = select.poll()  # `select.select` takes no file of a number beyond 1,023
        poll.register(self, select.POLLIN)
        return bool(poll.poll(1000 * seconds))

    def rest(self, seconds: float) -> None:
        """Return when this is set, or after so long; the next wait is one again."""
        if self.wait(seconds):
            self.clear()


def _close(*sockets: socket.socket) -> None:
    for one in sockets:
        one.close()

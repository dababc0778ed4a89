"""Connections of other processes that are cut, as a network does in the middle of something."""

import ctypes
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_SS = shutil.which("ss")
_PIDFD_GETFD: Final = 438
"""The number of this system call on every kind of machine. Python has no function for it."""
_CONNECTED: Final = "03"
"""The state of a socket in /proc/net/unix that has a peer."""


def reset_connections(port: int) -> int:
    """Reset all TCP connections to a port of this machine; how many were. 0 where the system cannot do it."""
    if _SS is None:
        return 0
    command = [_SS, "--tcp", "--no-header", "--kill", "state", "established", "dport", "=", f":{port}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return len(done.stdout.splitlines())


def shut_down_connections(pid: int, folder: str, how: int = socket.SHUT_RDWR) -> int:
    """Shut down the connections that a process has accepted at its Unix sockets; how many were.

    `folder` is how the paths of the sockets begin, `how` the direction: what is `SHUT_WR` can still be read.
    0 where the process has ended, or where the system cannot do it.
    """
    number = 0
    with suppress(OSError):
        process = os.pidfd_open(pid)
        try:
            for descriptor in list(_accepted(pid, folder)):
                with socket.socket(fileno=_copy_of(process, descriptor)) as connection:
                    connection.shutdown(how)
                number += 1
        finally:
            os.close(process)
    return number


def _accepted(pid: int, folder: str) -> Iterator[int]:
    """The descriptors of a process's connected sockets that have a path, which only the serving side has."""
    table = [line.split() for line in Path("/proc/net/unix").read_text("utf-8").splitlines()[1:]]
    inodes = {row[6] for row in table if row[5] == _CONNECTED and row[7:] and row[7].startswith(folder)}
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            kind, _, inode = str(descriptor.readlink()).partition(":")
            if kind == "socket" and inode.strip("[]") in inodes:
                yield int(descriptor.name)


def _copy_of(process: int, descriptor: int) -> int:
    """The same open socket, in this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    copy: int = libc.syscall(_PIDFD_GETFD, process, descriptor, 0)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "the socket of another process cannot be had")
    return copy

"""The address of the driver for its lanes: a Unix socket on one machine, a TCP port between machines."""

import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

SILENT_SECONDS: Final = 5
"""So long a peer whose machine is gone may stay unnoticed."""
_PROBES: Final = 3


@dataclass(frozen=True, slots=True)
class UnixPlace:
    """A socket in a folder that only this user can enter."""

    folder: Path

    @property
    def path(self) -> str:
        """The socket."""
        return str(self.folder / "driver")


@dataclass(frozen=True, slots=True)
class TcpPlace:
    """A port of the driver, by a name that leads to this driver only."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class LaneAddress:
    """A place, the lanes that are meant there, and the secret by which both sides prove themselves."""

    place: UnixPlace | TcpPlace
    binding: str  # one binding of lanes to executors; lanes of an earlier one are sent away
    secret: bytes = field(repr=False)
    certificate: str = ""  # by which lanes know the driver of an encrypted run; empty: nothing is encrypted

    def connect(self, seconds: float) -> socket.socket:
        """A connection, not yet proven; OSError where there is none within so many seconds."""
        match self.place:
            case UnixPlace() as place:
                connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                try:
                    connected.settimeout(seconds)
                    connected.connect(place.path)
                except OSError:
                    connected.close()
                    raise
            case TcpPlace(host, port):
                connected = socket.create_connection((host, port), timeout=seconds)
                notice_silence(connected)
        return connected


def notice_silence(connected: socket.socket) -> None:
    """Have the kernel end a TCP connection whose other machine does not answer any more."""
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux; elsewhere the kernel's own times hold
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENT_SECONDS - _PROBES)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENT_SECONDS * 1000)

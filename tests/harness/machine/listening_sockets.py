"""What a process and all that it has started listen at, as the kernel says."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

KINDS = ("tcp", "tcp6", "udp", "udp6")
LISTENING = "0A"


@dataclass(frozen=True, slots=True, order=True)
class ListeningSocket:
    """A TCP socket that listens, or a UDP socket that is bound."""

    kind: str
    address: str
    port: int

    @property
    def is_loopback(self) -> bool:
        address = ip_address(self.address)
        mapped = getattr(address, "ipv4_mapped", None)
        return (mapped or address).is_loopback


def listening_sockets(pid: int) -> list[ListeningSocket]:
    """Those of a process and its descendants."""
    inodes = {inode for process in _tree(pid) for inode in _socket_inodes(process)}
    return sorted(
        one
        for kind in KINDS
        for inode, one in bound_sockets(kind, Path(f"/proc/net/{kind}").read_text())
        if inode in inodes
    )


def _tree(pid: int) -> list[int]:
    parents = dict(_parents())
    tree = [pid]
    for one in tree:
        tree += [child for child, parent in parents.items() if parent == one]
    return tree


def _parents() -> Iterator[tuple[int, int]]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                yield int(folder.name), int((folder / "stat").read_text().rpartition(")")[2].split()[1])


def _socket_inodes(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for file in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                target = str(file.readlink())
                if target.startswith("socket:["):
                    yield target[len("socket:[") : -1]


def bound_sockets(kind: str, table: str) -> Iterator[tuple[str, ListeningSocket]]:
    """The sockets of one of the kernel's tables, each with its number."""
    for line in table.splitlines()[1:]:
        fields = line.split()
        host, _, port = fields[1].partition(":")
        if kind.startswith("udp") or fields[3] == LISTENING:
            yield fields[9], ListeningSocket(kind, _address(host), int(port, 16))


def _address(text: str) -> str:
    """The kernel writes words of 32 bits in the order of the machine."""
    words = b"".join(bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8))
    return str(IPv4Address(words) if len(words) == 4 else IPv6Address(words))

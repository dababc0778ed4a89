"""Network namespaces of this machine, each with an address, that can be cut off from all others."""

import itertools
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

import pytest

_NUMBERS = itertools.count()
_IP = shutil.which("ip")


class NoNamespacesError(Exception):
    """This machine lets nobody make a network namespace; the message says what it lacks."""


class NamespaceNetwork:
    """Some namespaces and this machine, each with a wire to each other one: nobody forwards for others.

    Packets to and from one that is cut off go nowhere, and those who sent them hear nothing.
    """

    def __init__(self, count: int) -> None:
        if os.geteuid() != 0 or _IP is None:
            raise NoNamespacesError("network namespaces need root and ip (Debian: apt-get install iproute2)")
        mark = os.getpid() * 8 + next(_NUMBERS) % 8  # no two runs of one machine have the same
        self._name = f"sa{mark:x}"
        self._subnet = f"10.{64 + mark // 256 % 64}.{mark % 256}"
        self._count = count
        try:
            for index in range(count):
                _ip("netns", "add", self._namespace(index))
                _ip("-n", self._namespace(index), "link", "set", "lo", "up")
                self._connect_to_machine(index)
                for other in range(index):
                    self._connect(index, other)
        except subprocess.CalledProcessError as error:
            self.close()
            raise NoNamespacesError(
                f"no network namespace can be made here: {error.stderr.strip()}"
            ) from None

    def address(self, index: int) -> str:
        """Where a namespace is reached."""
        return f"{self._subnet}.{index + 1}"

    def within(self, index: int) -> Sequence[str]:
        """What a command begins with that is to run in a namespace."""
        return ["nsenter", f"--net=/var/run/netns/{self._namespace(index)}"]

    def cut(self, index: int) -> None:
        """Lose every packet to and from a namespace from now on."""
        self._set(index, "down")

    def separate(self, index: int) -> None:
        """Lose every packet between a namespace and the others; this machine still reaches it."""
        self._set(index, "down", machine=False)

    def mend(self, index: int) -> None:
        """Let packets through again."""
        self._set(index, "up")

    def close(self) -> None:
        """Remove all of it."""
        for index in range(self._count):
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", self._namespace(index))

    def _set(self, index: int, state: str, *, machine: bool = True) -> None:
        others = [f"to-{other}" for other in range(self._count) if other != index]
        for device in (*["to-machine"] * machine, *others):
            _ip("-n", self._namespace(index), "link", "set", device, state)

    def _connect_to_machine(self, index: int) -> None:
        name, device = self._namespace(index), self._namespace(index)
        own, machine = self.address(index), f"{self._subnet}.{100 + index}"
        _ip("link", "add", device, "type", "veth", "peer", "name", "to-machine", "netns", name)
        _ip("addr", "add", machine, "peer", own, "dev", device)
        _ip("link", "set", device, "up")
        _ip("-n", name, "addr", "add", own, "peer", machine, "dev", "to-machine")
        _ip("-n", name, "link", "set", "to-machine", "up")

    def _connect(self, one: int, other: int) -> None:
        here, there = self._namespace(one), self._namespace(other)
        _ip("-n", here, "link", "add", f"to-{other}", "type", "veth", "peer", f"to-{one}", "netns", there)
        for name, index, peer in ((here, one, other), (there, other, one)):
            _ip(
                "-n",
                name,
                "addr",
                "add",
                self.address(index),
                "peer",
                self.address(peer),
                "dev",
                f"to-{peer}",
            )
            _ip("-n", name, "link", "set", f"to-{peer}", "up")

    def _namespace(self, index: int) -> str:
        return f"{self._name}-{index}"


@contextmanager
def network_or_skip(count: int) -> Iterator[NamespaceNetwork]:
    """Such a network for a test, which is left out where none can be made, in CI as well.

    `.ci/run` fetches the program. To make namespaces is a right of who runs it, which nothing can fetch.
    """
    try:
        network = NamespaceNetwork(count)
    except NoNamespacesError as error:
        pytest.skip(str(error))
    with closing(network):
        yield network


def _ip(*arguments: str) -> None:
    assert _IP
    subprocess.run([_IP, *arguments], check=True, capture_output=True, text=True)

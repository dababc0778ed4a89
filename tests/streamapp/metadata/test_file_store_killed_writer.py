"""A child process is killed at each of its system calls in turn; what it leaves is then opened by another."""

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from streamapp.metadata.file_calls import OperatingSystemCalls
from streamapp.metadata.file_store import FileMetadataStore
from tests.harness.machine.killable_child import started

OLD = {b"a": b"old", b"b": b"old"}
NEW = {b"a": b"new", b"c": b"new"}
CALLS = ("mkdir", "open", "lock", "read", "write", "fsync", "replace", "unlink", "close")


class Killed(OperatingSystemCalls):
    """The real system, but it kills the process instead of making a certain call.

    A write takes half of what it is given, so that there are calls between the halves of a file.
    """

    def __init__(self, at: int) -> None:
        self._left = at

    def __getattribute__(self, name: str) -> object:
        if name not in CALLS:
            return super().__getattribute__(name)
        self._left -= 1
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getattribute__(name)

    def write(self, file: int, content: memoryview) -> int:
        return super().write(file, content[: len(content) // 2 or 1])


def killed(work: Callable[[], object]) -> bool:
    """Whether a child process that does this was killed rather than came to its end."""
    _, status = os.waitpid(started(work), 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


CHANGES: dict[str, tuple[Callable[[FileMetadataStore], None], dict[bytes, bytes]]] = {
    "put": (lambda store: store.put(b"a", b"new"), OLD | {b"a": b"new"}),
    "put_all": (lambda store: store.put_all(NEW), OLD | NEW),
    "remove": (lambda store: store.remove(b"a"), {b"b": b"old"}),
}


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_is_killed_at_any_call_has_happened_or_has_not(tmp_path: Path, name: str) -> None:
    change, after = CHANGES[name]
    seen: list[dict[bytes, bytes]] = []
    ended = False
    while not ended:
        place = tmp_path / f"{len(seen)}"
        FileMetadataStore(place).put_all(OLD)
        dying = FileMetadataStore(place, Killed(at=len(seen)))
        ended = not killed(partial(change, dying))
        left = FileMetadataStore(place).all()
        FileMetadataStore(place).put(b"later", b"works")
        assert FileMetadataStore(place).all() == left | {b"later": b"works"}
        assert not (place / "metadata.new").exists()
        seen.append(left)
    happened = seen.index(after)
    assert seen == [OLD] * happened + [after] * (len(seen) - happened)
    assert 0 < happened < len(seen) - 1


@pytest.mark.usefixtures("process")
def test_the_first_change_of_all_that_is_killed_at_any_call_leaves_nothing_or_everything(
    tmp_path: Path,
) -> None:
    ended, at = False, 0
    while not ended:
        place = tmp_path / f"{at}"
        ended = not killed(partial(FileMetadataStore(place, Killed(at)).put_all, NEW))
        left = FileMetadataStore(place).all()
        assert left in ({}, NEW)
        FileMetadataStore(place).put_all(OLD)
        assert FileMetadataStore(place).all() == left | OLD
        at += 1
    assert at > len(CALLS)

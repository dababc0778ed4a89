"""The executor of a lane, seen from Python where Spark does not tell: its id, its place, its memory kills."""

import os
import socket
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

_TELLING = ("SPARK_EXECUTOR_DIRS", "SPARK_EXECUTOR_ID", "SPARK_APPLICATION_ID", "SPARK_EXECUTOR_POD_IP")
"""What differs between executors: the first on one machine, the next in pods.

A pod of a StatefulSet that comes again differs from the last one by its address alone.
"""


def executor_identity() -> str:
    """The same for all workers of an executor, and for no other executor nor for the one that replaces it."""
    identity_parts = [socket.gethostname(), *(os.environ.get(name, "") for name in _TELLING)]
    return blake2b("\n".join(identity_parts).encode(), digest_size=8).hexdigest()


def report_identity(lane: int, elements: Iterable[object]) -> Iterator[tuple[int, str]]:
    """Say of a lane where it is; Spark keeps a worker that has read all of its elements, and ends others."""
    deque(elements, maxlen=0)
    yield lane, executor_identity()


MOUNT = Path("/sys/fs/cgroup")
OWN = Path("/proc/self/cgroup")


def oom_kills(mount: Path = MOUNT, own: Path = OWN) -> int:
    """The kernel's count for the control group of this process; 0 where it keeps none."""
    for file in _files(mount, own):
        try:
            counts = dict(line.split(maxsplit=1) for line in file.read_text("ascii").splitlines())
            return int(counts["oom_kill"])
        except (OSError, ValueError, KeyError):
            continue
    return 0


def _files(mount: Path, own: Path) -> list[Path]:
    """The files that may hold the count: of both versions, as the host and as a container sees the group."""
    try:
        lines = [line.split(":", 2) for line in own.read_text("utf-8").splitlines()]
    except (OSError, ValueError):
        return []
    files: list[Path] = []
    for _, kinds, path in lines:
        if "memory" in kinds.split(","):
            places = (mount / "memory" / path.lstrip("/"), mount / "memory")
            files += [place / "memory.oom_control" for place in places]
        elif not kinds:
            files += [place / "memory.events" for place in (mount / path.lstrip("/"), mount)]
    return files


LOCATION_FILE = "location"


def location_of(root: Path) -> str:
    """The name of the location that a folder of state makes; the first who asks gives it."""
    file = root / LOCATION_FILE
    with suppress(FileNotFoundError):
        if name := file.read_text("ascii"):
            return name
        file.unlink()  # a machine that stopped may leave a file without its text
    root.mkdir(parents=True, exist_ok=True)
    fresh = root / f"{LOCATION_FILE}.{uuid4().hex}"
    fresh.write_text(uuid4().hex, "ascii")
    with suppress(FileExistsError):
        file.hardlink_to(fresh)  # made whole, and by one of all who try
    fresh.unlink()
    return file.read_text("ascii")

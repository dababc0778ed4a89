"""How many processes the kernel has killed for want of memory, for these cannot say so themselves."""

from pathlib import Path

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
    """Where the count may stand: of both versions, as the host sees the group and as a container does."""
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

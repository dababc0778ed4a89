"""The Python code of an app, told from that of Python and of installed packages."""

import sysconfig
from functools import cache
from pathlib import Path
from typing import Final

_INSTALLED: Final = ("site-packages", "dist-packages")


def is_installed(path: Path) -> bool:
    """True if a file or folder belongs to Python or to an installed package."""
    resolved = path.resolve()
    return any(part in _INSTALLED for part in resolved.parts) or any(
        resolved.is_relative_to(folder) for folder in _library()
    )


@cache
def _library() -> tuple[Path, ...]:
    """The folders of Python's own library."""
    return tuple(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib"))

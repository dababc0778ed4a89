"""The memory of this process, as the kernel counts it."""

import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

_PAGES: Final = Path("/proc/self/statm")
_PEAK_UNIT: Final = 1 if sys.platform == "darwin" else 1024


def resident_bytes() -> int:
    """The bytes that are in memory now; where the kernel does not say, the most that ever were."""
    with suppress(OSError, ValueError, IndexError):
        return int(_PAGES.read_text("ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT

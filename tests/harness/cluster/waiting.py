"""Waiting for what a cluster comes to, always with a limit, and saying what was still wrong at its end."""

import time
from collections.abc import Callable

LOOK_SECONDS = 0.5


def until(wrong: Callable[[], list[str]], limit: float) -> float:
    """Wait until nothing is wrong any more; how long that took."""
    begun = time.monotonic()
    while found := wrong():
        if time.monotonic() - begun > limit:
            raise AssertionError(f"not so after {limit:g} s:\n  " + "\n  ".join(found))
        time.sleep(LOOK_SECONDS)
    return time.monotonic() - begun

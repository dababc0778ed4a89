"""A clock ahead of this machine's: each process with this folder in its path begins with it."""

import os
import time
from typing import Final

_AHEAD_MS: Final = int(os.environ.get("ORACLE_CLOCK_AHEAD_MS", "0"))
_true_time, _true_time_ns = time.time, time.time_ns


def _time() -> float:
    return _true_time() + _AHEAD_MS / 1000


def _time_ns() -> int:
    return _true_time_ns() + _AHEAD_MS * 1_000_000


if _AHEAD_MS:
    time.time, time.time_ns = _time, _time_ns

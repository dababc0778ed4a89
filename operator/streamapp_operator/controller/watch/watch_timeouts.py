"""Timeouts of watches and the intervals of comparisons."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchTimeouts:
    """Times in seconds."""

    watch_inactivity: float = 75.0  # a watch without even the bookmark of every minute is reopened
    compare_after_silence: float = 90.0  # without an event for so long, the cache is compared
    compare_every: float = 300.0  # the cache is compared at least this often
    check_every: float = 5.0  # how often it is checked whether a comparison is due

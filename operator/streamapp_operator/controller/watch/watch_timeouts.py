"""How long a silence may last before something is done about it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchTimeouts:
    """Times in seconds."""

    watch: float = 75.0  # without even the mark that comes every minute, a watch is opened anew
    silence: float = 90.0  # without an event, the cache is compared with what there is
    every: float = 300.0  # and so it is in any case
    look: float = 5.0  # so often it is seen whether it is time

"""How long a driver waits for what: workers that fall asleep, executors that are gone, the next attempt."""

KEEP_ALIVE_SECONDS = 20.0
"""Idle Python workers end after a minute, and what they hold with them."""
EXECUTOR_START_SECONDS = 60.0
"""How long executors are waited for at the start."""
GRACE_SECONDS = 5.0
"""How long the other lanes wait for an executor that is lost: most are replaced by then."""
LOOK_SECONDS = 1.0
"""How often one looks whether a processor that is missing has come back."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0


def retry_delay(failures: int) -> float:
    """Seconds before a batch is tried again: longer the more have failed in a row."""
    return min(_PAUSE_SECONDS * 2**failures, _LONGEST_PAUSE_SECONDS) if failures else 0.0

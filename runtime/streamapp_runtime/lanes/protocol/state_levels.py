"""The levels of lanes' state, reported beside their counters: of these the newest number counts."""

from typing import Final

STATE_ENTRIES: Final = "stateEntries"
STATE_BYTES: Final = "stateBytes"
VOLUME_FREE: Final = "volumeFree"
VOLUME_BYTES: Final = "volumeBytes"
VOLUME_LEVELS: Final = frozenset({VOLUME_FREE, VOLUME_BYTES})
"""Of the volume that the lane's stores are on; the others are by table."""
STATE_LEVELS: Final = VOLUME_LEVELS | {STATE_ENTRIES, STATE_BYTES}

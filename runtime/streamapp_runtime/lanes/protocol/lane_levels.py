"""The levels of lanes, reported beside their counters: of these the newest number counts."""

from typing import Final

STATE_ENTRIES: Final = "stateEntries"
STATE_BYTES: Final = "stateBytes"
VOLUME_FREE: Final = "volumeFree"
VOLUME_BYTES: Final = "volumeBytes"
VOLUME_LEVELS: Final = frozenset({VOLUME_FREE, VOLUME_BYTES})
"""Of the volume that the lane's stores are on."""
MEMORY_BYTES: Final = "memoryBytes"
"""Of the lane's worker process, as the kernel counts what is resident."""
LANE_LEVELS: Final = VOLUME_LEVELS | {STATE_ENTRIES, STATE_BYTES, MEMORY_BYTES}
LATENCY_MS: Final = "latencyMs"
"""By input: from the oldest timestamp of the first records that a batch read of partitions to its commit."""

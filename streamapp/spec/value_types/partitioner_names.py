"""The hashes by which producers put keys into partitions."""

from typing import Final, Literal, get_args

PartitionerName = Literal["murmur2", "crc32"]

PARTITIONERS: Final[tuple[PartitionerName, ...]] = get_args(PartitionerName)
DEFAULT_PARTITIONER: Final[PartitionerName] = "murmur2"
"""That of Kafka's Java clients, and of every stream that the app makes."""

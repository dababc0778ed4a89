"""The hashes by which producers put keys into partitions."""

from typing import Final, Literal

PartitionerName = Literal["murmur2", "crc32"]

DEFAULT_PARTITIONER: Final[PartitionerName] = "murmur2"
"""That of Kafka's Java clients, and of every stream that the app makes."""

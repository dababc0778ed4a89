"""What is left of the tasks' partitions after a batch: so lanes know who is silent, and what has ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PartitionNames = tuple[tuple[str, int], ...]
"""Partitions, by stream and index."""


@dataclass(frozen=True, slots=True)
class RemainingInput:
    """By task: partitions with more to read, partitions at their end, and what it takes over from others."""

    behind: Mapping[str, PartitionNames] = field(default_factory=dict)
    ended: Mapping[str, PartitionNames] = field(default_factory=dict)
    inherited: Mapping[str, str] = field(default_factory=dict)

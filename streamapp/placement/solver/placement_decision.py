"""What is decided before any task is named."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """It fixes how many tasks keep their location and their processor; names only fill it in."""

    extras: frozenset[str]  # who carries one task more than its base
    owned: Mapping[str, int]  # owner -> how many tasks without a home come back to it
    away: Mapping[tuple[str, str], int]  # home, owner -> how many tasks leave home to stay with their owner

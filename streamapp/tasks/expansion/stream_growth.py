"""Which streams with state have grown since they were last seen."""

from collections.abc import Mapping

from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import KeyMovement, Split


def stream_growths(
    layout: Layout, counts: Mapping[str, int], algorithm: ExpansionAlgorithm, now: float
) -> tuple[Split, ...]:
    """A split for each stream that has more partitions than before."""
    grown: list[Split] = []
    for stream, count in sorted(counts.items()):
        known = layout.streams.get(stream)
        if known is not None and known.initial and count > known.last:
            grown.append(Split(stream, known.last, count, now, key_movement(known.last, count, algorithm)))
    return tuple(grown)


def key_movement(before: int, after: int, algorithm: ExpansionAlgorithm) -> KeyMovement:
    """How keys went over when a stream grew."""
    if algorithm is not modulo:
        return KeyMovement.MAPPED
    return KeyMovement.MIXED if after % before else KeyMovement.EXACT

"""Growths of streams with state since their last recorded count."""

from collections.abc import Mapping

from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import KeyMovement, Split


def stream_growths(
    layout: Layout, counts: Mapping[str, int], algorithm: ExpansionAlgorithm, now: float
) -> tuple[Split, ...]:
    """A split for each stream that has more partitions than its layout."""
    growths: list[Split] = []
    for stream, count in sorted(counts.items()):
        stream_layout = layout.streams.get(stream)
        if stream_layout is not None and stream_layout.initial and count > stream_layout.last:
            growths.append(
                Split(
                    stream, stream_layout.last, count, now, key_movement(stream_layout.last, count, algorithm)
                )
            )
    return tuple(growths)


def key_movement(before: int, after: int, algorithm: ExpansionAlgorithm) -> KeyMovement:
    """The movement of keys between partitions when a stream grew."""
    if algorithm is not modulo:
        return KeyMovement.MAPPED
    return KeyMovement.MIXED if after % before else KeyMovement.EXACT

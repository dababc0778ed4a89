"""Which streams with state have grown since they were last seen."""

from collections.abc import Mapping

from streamapp.tasks.algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.layout import Layout
from streamapp.tasks.split import Parting, Split


def growths(
    layout: Layout, counts: Mapping[str, int], algorithm: ExpansionAlgorithm, now: float
) -> tuple[Split, ...]:
    """A split for each stream that has more partitions than before."""
    grown: list[Split] = []
    for stream, count in sorted(counts.items()):
        known = layout.streams.get(stream)
        if known is not None and known.initial and count > known.last:
            grown.append(Split(stream, known.last, count, now, parting(known.last, count, algorithm)))
    return tuple(grown)


def parting(before: int, after: int, algorithm: ExpansionAlgorithm) -> Parting:
    """How keys went over when a stream grew."""
    if algorithm is not modulo:
        return Parting.MAPPED
    return Parting.MIXED if after % before else Parting.EXACT

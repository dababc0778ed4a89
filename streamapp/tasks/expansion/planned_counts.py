"""The partition counts that the planner works with once there is state: those of the day it began."""

from collections.abc import Collection, Mapping

from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, initial_indexes, modulo
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.refusal import Refusal


def planned_counts(
    layout: Layout | None,
    counts: Mapping[str, int],
    copartition_groups: Collection[Collection[str]],
    algorithm: ExpansionAlgorithm = modulo,
) -> dict[str, int]:
    """The count of each stream for the planner.

    A stream with state counts as it did when its state began. A new one that is joined with a grown one
    counts as that did, if its own count is a legal growth of it. All others, intermediate streams among them,
    count as they are.
    """
    known = {} if layout is None else {name: one for name, one in layout.streams.items() if one.initial}
    planned = {**counts, **{stream: known[stream].initial for stream in counts if stream in known}}
    for group in copartition_groups:
        grown = {
            known[stream].initial
            for stream in group
            if stream in known and counts.get(stream, known[stream].last) > known[stream].initial
        }
        if len(grown) != 1:  # several would disagree; the planner says so
            continue
        initial = grown.pop()
        for stream in group:
            if stream in counts and stream not in known and _legal(counts[stream], initial, algorithm):
                planned[stream] = initial
    return planned


def _legal(count: int, initial: int, algorithm: ExpansionAlgorithm) -> bool:
    return not isinstance(initial_indexes("", count, initial, algorithm), Refusal)

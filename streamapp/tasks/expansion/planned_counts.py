"""The partition counts that the planner uses for an app with state: the counts at first state."""

from collections.abc import Collection, Mapping

from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, initial_indexes, modulo
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.refusal import Refusal


def planned_counts(
    layout: Layout | None,
    counts: Mapping[str, int],
    copartition_groups: Collection[Collection[str]],
    algorithm: ExpansionAlgorithm = modulo,
    without_state: Collection[str] = (),
) -> dict[str, int]:
    """The count of each stream for the planner.

    A stream with state behind it has its count at first state. A new stream that is joined with a grown
    stream has that stream's initial count, if its own count is a legal growth. All other streams,
    intermediate ones included, have their current count.
    """
    stateful_layouts = (
        {}
        if layout is None
        else {
            name: stream_layout
            for name, stream_layout in layout.streams.items()
            if stream_layout.initial and name not in without_state
        }
    )
    planned = {
        **counts,
        **{stream: stateful_layouts[stream].initial for stream in counts if stream in stateful_layouts},
    }
    for group in copartition_groups:
        initial_counts = {
            stateful_layouts[stream].initial
            for stream in group
            if stream in stateful_layouts
            and counts.get(stream, stateful_layouts[stream].last) > stateful_layouts[stream].initial
        }
        if len(initial_counts) != 1:  # several would disagree; the planner says so
            continue
        initial = initial_counts.pop()
        for stream in group:
            if (
                stream in counts
                and stream not in stateful_layouts
                and _is_legal_growth(counts[stream], initial, algorithm)
            ):
                planned[stream] = initial
    return planned


def _is_legal_growth(count: int, initial: int, algorithm: ExpansionAlgorithm) -> bool:
    return not isinstance(initial_indexes("", count, initial, algorithm), Refusal)

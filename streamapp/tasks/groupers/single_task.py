"""One task for everything, or one per processor that each read everything.

No key can leave its task here, so a stream may grow to any count.
"""

from dataclasses import replace

from streamapp.spec.reasons import Reason
from streamapp.tasks.expansion.expansion_algorithm import modulo, shrunk_stream_refusal
from streamapp.tasks.expansion.stream_growth import stream_growths
from streamapp.tasks.groupers import task_names
from streamapp.tasks.groupers.changelog_partitions import changelog_numbers
from streamapp.tasks.groupers.grouping_request import Assignment, GroupingRequest
from streamapp.tasks.groupers.input_partitions import InputPartitions
from streamapp.tasks.layouts.layout import Layout, StreamLayout
from streamapp.tasks.refusal import Refusal

_ALONE = ("0",)


def single_task(request: GroupingRequest, layout: Layout, found: InputPartitions) -> Assignment | Refusal:
    """The one task or, where processors are named, one for each."""
    processors = _ALONE if request.processors is None else request.processors
    if not processors:
        return Refusal(
            Reason.NO_PROCESSORS, "processors", "a task for each processor was asked for, and there are none"
        )
    streams = dict(layout.streams)
    for stream, count in found.keyed_counts.items() if request.stateful else ():
        known = streams[stream]
        if known.initial and count < known.last:
            return shrunk_stream_refusal(stream, known.last, count)
        streams[stream] = StreamLayout(known.first, count, known.initial or count)
    grown = stream_growths(layout, found.keyed_counts, modulo, request.now) if request.stateful else ()
    names = _names(request, layout, processors) if found.keyed else ()
    partitions = tuple(found.partitions)
    alone = len(names) == 1
    return Assignment(
        tasks=dict.fromkeys(names, partitions if alone else ()),
        broadcast=found.broadcast if alone else tuple(sorted((*partitions, *found.broadcast))),
        layout=replace(
            layout,
            streams=streams,
            everywhere=names if request.stateful else layout.everywhere,
            splits=layout.splits + grown,
            changelog=changelog_numbers(layout.changelog, names),
        ),
        grown=grown,
    )


def _names(request: GroupingRequest, layout: Layout, processors: tuple[str, ...]) -> tuple[str, ...]:
    """As many tasks as are remembered are the same tasks: their names lead to their state."""
    if request.stateful and len(layout.everywhere) == len(processors):
        return layout.everywhere
    return tuple(task_names.of_processor(processor) for processor in processors)

"""One task for everything, or one per processor that each read everything.

No key can leave its task here, so a stream may grow to any count.
"""

from dataclasses import replace

from streamapp.spec.reasons import Reason
from streamapp.tasks import task_name
from streamapp.tasks.algorithm import modulo, shrinks
from streamapp.tasks.changelog import numbered
from streamapp.tasks.growth import growths
from streamapp.tasks.inputs import Inputs
from streamapp.tasks.layout import Layout, StreamLayout
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Assignment, Request

_ALONE = ("0",)


def single_task(request: Request, layout: Layout, found: Inputs) -> Assignment | Refusal:
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
            return shrinks(stream, known.last, count)
        streams[stream] = StreamLayout(known.first, count, known.initial or count)
    grown = growths(layout, found.keyed_counts, modulo, request.now) if request.stateful else ()
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
            changelog=numbered(layout.changelog, names),
        ),
        grown=grown,
    )


def _names(request: Request, layout: Layout, processors: tuple[str, ...]) -> tuple[str, ...]:
    """As many tasks as are remembered are the same tasks: their names lead to their state."""
    if request.stateful and len(layout.everywhere) == len(processors):
        return layout.everywhere
    return tuple(task_name.of_processor(processor) for processor in processors)

"""One task for all partitions, or one task per processor that reads all partitions.

No key can leave its task, so a stream may grow to any count. A task per processor is the form of the design
documents. An app is never given it: every row would come out once for each processor.
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

_ONE_PROCESSOR = ("0",)


def single_task(request: GroupingRequest, layout: Layout, inputs: InputPartitions) -> Assignment | Refusal:
    """The only task or, where processors are named, one task for each."""
    processors = _ONE_PROCESSOR if request.processors is None else request.processors
    if not processors:
        return Refusal(
            Reason.NO_PROCESSORS, "processors", "a task for each processor was asked for, and there are none"
        )
    if request.stateful and request.processors is None and len(layout.everywhere) > 1:
        return _several_with_state(layout)
    streams = dict(layout.streams)
    for stream, count in inputs.keyed_counts.items() if request.stateful else ():
        stream_layout = streams[stream]
        if stream_layout.initial and count < stream_layout.last:
            return shrunk_stream_refusal(stream, stream_layout.last, count)
        streams[stream] = StreamLayout(stream_layout.first, count, stream_layout.initial or count)
    grown = stream_growths(layout, inputs.keyed_counts, modulo, request.now) if request.stateful else ()
    task_ids = _task_names(request, layout, processors) if inputs.keyed else ()
    partitions = tuple(inputs.partitions)
    is_only_task = len(task_ids) == 1
    return Assignment(
        tasks=dict.fromkeys(task_ids, partitions if is_only_task else ()),
        broadcast=inputs.broadcast if is_only_task else tuple(sorted((*partitions, *inputs.broadcast))),
        layout=replace(
            layout,
            streams=streams,
            everywhere=task_ids if request.stateful else layout.everywhere,
            splits=layout.splits + grown,
            changelog=changelog_numbers(layout.changelog, task_ids),
        ),
        grown=grown,
    )


def _several_with_state(layout: Layout) -> Refusal:
    """The refusal of state that was formed by a task for each processor: its rows came out several times."""
    return Refusal(
        Reason.GROUPER_CHANGED,
        "spec.grouper",
        f"its state was formed by {len(layout.everywhere)} tasks that each read everything, and wrote every "
        f"row {len(layout.everywhere)} times; one task is formed now",
        "raise resetNonce to give the state up",
    )


def _task_names(request: GroupingRequest, layout: Layout, processors: tuple[str, ...]) -> tuple[str, ...]:
    """The remembered names if their number fits, since a name is the address of state; else new ones."""
    if request.stateful and len(layout.everywhere) == len(processors):
        return layout.everywhere
    return tuple(task_names.of_processor(processor) for processor in processors)

"""A placement as a document: `streamapp place -o json`, version 1.

    {"version": 1, "kind": "placement", "app": NAME, "outcome": "accepted" | "refused",
     "refusal": null | {"reason", "path", "message", "hint"},
     "processors": {PROCESSOR: {"location": LOCATION | null, "tasks": [TASK, ...]}},
     "tasks": {TASK: {"partitions", "changelog", "processor", "why", "left": [LOCATION, ...]}},
     "counts": {"tasks", "onLocation", "onProcessor", "locationMoves", "processorMoves", "mostOnLocation"},
     "untouched": [PROCESSOR, ...],
     "layout": LAYOUT}

A refused one ends after `refusal`. `mostOnLocation` is the proven optimum: no assignment with balanced
loads keeps more tasks on their location.
`untouched` are the processors that need not notice the change. `layout` is that of `streamapp tasks`.
"""

from collections.abc import Mapping
from typing import Any

from streamapp.cli.documents.previous_answer import PreviousAnswer
from streamapp.cli.documents.tasks_document import refused_document, tasks_document
from streamapp.durable_forms import ANSWER_DOCUMENT
from streamapp.placement.movement import Movement, movement
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.refusal import Refusal


def placement_document(
    name: str,
    assignment: Assignment,
    placement: TaskPlacement | Refusal,
    locations: Mapping[str, str | None],
    previous: PreviousAnswer,
) -> dict[str, Any]:
    """The document of one app's placement."""
    tasks_part = tasks_document(name, assignment)
    if isinstance(placement, Refusal):
        return refused_document("placement", name, placement)
    processor_of = placement.processor_of
    left = previous.left_by({task: locations.get(name) for task, name in processor_of.items()})
    return {
        "version": ANSWER_DOCUMENT.version,
        "kind": "placement",
        "app": name,
        "outcome": "accepted",
        "refusal": None,
        "processors": {
            processor: {"location": locations.get(processor) or None, "tasks": list(processor_tasks)}
            for processor, processor_tasks in placement.tasks_of().items()
        },
        "tasks": {
            task: {
                **entry,
                "processor": processor_of[task],
                "why": placement.why(task).value,
                "left": list(left.get(task, ())),
            }
            for task, entry in tasks_part["tasks"].items()
        },
        "counts": {
            "tasks": len(processor_of),
            "onLocation": placement.on_location,
            "onProcessor": placement.on_processor,
            "locationMoves": placement.location_moves,
            "processorMoves": placement.processor_moves,
            "mostOnLocation": placement.most_on_location,
        },
        "untouched": list(placement_moves(placement, locations, previous).untouched),
        "layout": tasks_part["layout"],
    }


def placement_moves(
    placement: TaskPlacement, locations: Mapping[str, str | None], previous: PreviousAnswer
) -> Movement:
    """The movement from the previous placement to this one."""
    previous_processors, current_processors = previous.processor_of, placement.processor_of
    return movement(
        previous_processors,
        current_processors,
        locations_before=previous.locations,
        locations_after=locations,
    )

"""A placement as a document: `streamapp place -o json`, version 1.

    {"version": 1, "kind": "placement", "app": NAME, "outcome": "accepted" | "refused",
     "refusal": null | {"reason", "path", "message", "hint"},
     "processors": {PROCESSOR: {"location": LOCATION | null, "tasks": [TASK, ...]}},
     "tasks": {TASK: {"partitions", "changelog", "processor", "why"}},
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
from streamapp.cli.documents.tasks_document import DOCUMENT_VERSION, refused_document, tasks_document
from streamapp.placement.movement import Movement, movement
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.refusal import Refusal


def placement_document(
    name: str,
    tasks: Assignment,
    found: TaskPlacement | Refusal,
    locations: Mapping[str, str | None],
    previous: PreviousAnswer,
) -> dict[str, Any]:
    """The document of where one app's tasks run."""
    formed = tasks_document(name, tasks)
    if isinstance(found, Refusal):
        return refused_document("placement", name, found)
    of = found.processor_of
    return {
        "version": DOCUMENT_VERSION,
        "kind": "placement",
        "app": name,
        "outcome": "accepted",
        "refusal": None,
        "processors": {
            processor: {"location": locations.get(processor) or None, "tasks": list(held)}
            for processor, held in found.tasks_of().items()
        },
        "tasks": {
            task: {**entry, "processor": of[task], "why": found.why(task).value}
            for task, entry in formed["tasks"].items()
        },
        "counts": {
            "tasks": len(of),
            "onLocation": found.on_location,
            "onProcessor": found.on_processor,
            "locationMoves": found.location_moves,
            "processorMoves": found.processor_moves,
            "mostOnLocation": found.most_on_location,
        },
        "untouched": list(placement_moves(found, locations, previous).untouched),
        "layout": formed["layout"],
    }


def placement_moves(
    found: TaskPlacement, locations: Mapping[str, str | None], previous: PreviousAnswer
) -> Movement:
    """What changes from the previous placement to this one."""
    was, now = previous.processor_of, found.processor_of
    return movement(was, now, locations_before=previous.locations, locations_after=locations)

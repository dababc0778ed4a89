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

from streamapp.author.previous import Previous
from streamapp.author.tasks_document import VERSION, refused, tasks_document
from streamapp.placement.movement import Movement, movement
from streamapp.placement.placement import Placement
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.request import Assignment


def place_document(
    name: str,
    tasks: Assignment,
    found: Placement | Refusal,
    locations: Mapping[str, str | None],
    previous: Previous,
) -> dict[str, Any]:
    """The document of where one app's tasks run."""
    formed = tasks_document(name, tasks)
    if isinstance(found, Refusal):
        return refused("placement", name, found)
    of = found.processor_of
    return {
        "version": VERSION,
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
        "untouched": list(moves(found, locations, previous).untouched),
        "layout": formed["layout"],
    }


def moves(found: Placement, locations: Mapping[str, str | None], previous: Previous) -> Movement:
    """What changes from the previous placement to this one."""
    was, now = previous.processor_of, found.processor_of
    return movement(was, now, locations_before=previous.locations, locations_after=locations)

"""Tasks as a document: `streamapp tasks -o json`, version 1, and what of it a later call needs.

    {"version": 1, "kind": "tasks", "app": NAME, "outcome": "accepted" | "refused",
     "refusal": null | {"reason", "path", "message", "hint"},
     "tasks": {TASK: {"partitions": ["views#0", ...], "changelog": NUMBER}},
     "broadcast": ["rates#0", ...],
     "grown": [{"stream", "before", "after", "parting"}],
     "layout": LAYOUT}

A refused one ends after `refusal`. `layout` is what has to be remembered with the state; it has a format
version and a checksum of its own.
"""

import json
from typing import Any

from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout_codec import encode_layout
from streamapp.tasks.refusal import Refusal

DOCUMENT_VERSION = 1


def tasks_document(name: str, found: Assignment | Refusal) -> dict[str, Any]:
    """The document of one app's tasks, or of why there are none."""
    if isinstance(found, Refusal):
        return refused_document("tasks", name, found)
    changelog = found.changelog
    return {
        "version": DOCUMENT_VERSION,
        "kind": "tasks",
        "app": name,
        "outcome": "accepted",
        "refusal": None,
        "tasks": {
            task: {"partitions": [str(partition) for partition in partitions], "changelog": changelog[task]}
            for task, partitions in sorted(found.tasks.items(), key=lambda entry: changelog[entry[0]])
        },
        "broadcast": [str(partition) for partition in found.broadcast],
        "grown": [
            {
                "stream": split.stream,
                "before": split.before,
                "after": split.after,
                "parting": split.parting.value,
            }
            for split in found.grown
        ],
        "layout": json.loads(encode_layout(found.layout)),
    }


def refused_document(kind: str, name: str, refusal: Refusal) -> dict[str, Any]:
    """The document of an answer that could not be given."""
    told = {"reason": refusal.reason.value, "path": refusal.path}
    told |= {"message": refusal.message, "hint": refusal.hint}
    return {"version": DOCUMENT_VERSION, "kind": kind, "app": name, "outcome": "refused", "refusal": told}

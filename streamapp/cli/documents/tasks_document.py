"""Tasks as a document: `streamapp tasks -o json`, version 1, and the part that a later call needs.

    {"version": 1, "kind": "tasks", "app": NAME, "outcome": "accepted" | "refused",
     "refusal": null | {"reason", "path", "message", "hint"},
     "tasks": {TASK: {"partitions": ["views#0", ...], "changelog": NUMBER}},
     "broadcast": ["rates#0", ...],
     "grown": [{"stream", "before", "after", "parting"}],
     "layout": LAYOUT}

A refused one ends after `refusal`. `layout` is what has to be remembered with the state. Its text has a
format version and a checksum.
"""

import json
from typing import Any

from streamapp.durable_forms import ANSWER_DOCUMENT
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout_codec import encode_layout
from streamapp.tasks.refusal import Refusal


def tasks_document(name: str, tasks: Assignment | Refusal) -> dict[str, Any]:
    """The document of one app's tasks, or of their refusal."""
    if isinstance(tasks, Refusal):
        return refused_document("tasks", name, tasks)
    changelog = tasks.changelog
    return {
        "version": ANSWER_DOCUMENT.version,
        "kind": "tasks",
        "app": name,
        "outcome": "accepted",
        "refusal": None,
        "tasks": {
            task: {"partitions": [str(partition) for partition in partitions], "changelog": changelog[task]}
            for task, partitions in sorted(tasks.tasks.items(), key=lambda entry: changelog[entry[0]])
        },
        "broadcast": [str(partition) for partition in tasks.broadcast],
        "grown": [
            {
                "stream": split.stream,
                "before": split.before,
                "after": split.after,
                "parting": split.parting.value,
            }
            for split in tasks.grown
        ],
        "layout": json.loads(encode_layout(tasks.layout)),
    }


def refused_document(kind: str, name: str, refusal: Refusal) -> dict[str, Any]:
    """The document of a refused answer."""
    refusal_fields = {"reason": refusal.reason.value, "path": refusal.path}
    refusal_fields |= {"message": refusal.message, "hint": refusal.hint}
    return {
        "version": ANSWER_DOCUMENT.version,
        "kind": kind,
        "app": name,
        "outcome": "refused",
        "refusal": refusal_fields,
    }

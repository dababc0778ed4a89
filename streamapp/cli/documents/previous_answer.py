"""The previous answer of `tasks` or `place`, as the next call reads it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.durable_forms import ANSWER_DOCUMENT, VersionRefusal
from streamapp.placement.locations.store_history import MOST_FORMER_PLACES, StoreHistory, StorePlace
from streamapp.spec.problem import Problem
from streamapp.spec.validation.error_messages import describe_value
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout
from streamapp.tasks.refusal import Refusal


@dataclass(frozen=True, slots=True)
class PreviousAnswer:
    """The layout to keep, and the previous assignment."""

    layout: Layout | None = None
    processor_of: Mapping[str, str] = field(default_factory=dict)
    locations: Mapping[str, str | None] = field(default_factory=dict)  # processor -> location
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # task -> locations, latest first

    @property
    def task_locality(self) -> dict[str, str | None]:
        """The location of each task's state."""
        return {task: self.locations.get(name) for task, name in self.processor_of.items()}

    @property
    def store_history(self) -> StoreHistory:
        """The places of tasks' stores. Positions are not known, so a store left later counts as further."""
        known_locations = {
            task: [location for location in (here, *self.left.get(task, ())) if location]
            for task, here in self.task_locality.items()
        }
        return StoreHistory(
            {
                task: tuple(
                    StorePlace(location, 1 + MOST_FORMER_PLACES - number, 0)
                    for number, location in enumerate(locations[: 1 + MOST_FORMER_PLACES])
                )
                for task, locations in known_locations.items()
                if locations
            }
        )

    def left_by(self, locations: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
        """Task -> the locations where it has left stores, the latest first, after tasks came to these."""
        history = self.store_history
        after = history.with_locations(locations, {}, history.places, 0)
        return {task: tuple(place.location for place in places[1:]) for task, places in after.places.items()}


def parse_previous_answer(text: str) -> PreviousAnswer | Problem:
    """Parse an answer of `streamapp tasks -o json` or `streamapp place -o json`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Problem(0, 0, "", f"this is no JSON: {error}")
    foreign = _document_problem(document)
    if foreign:
        return foreign
    layout = decode_layout(json.dumps(document.get("layout")))
    if isinstance(layout, Refusal):
        return Problem(0, 0, "layout", f"{layout.message}; {layout.hint}")
    try:
        return _previous_answer(document, layout)
    except (AttributeError, TypeError, KeyError) as error:
        return Problem(0, 0, "processors", f"not in the form that `place -o json` prints: {error}")


def _document_problem(document: Any) -> Problem | None:
    """Why a document is no previous answer; None for a valid one."""
    fields = document if isinstance(document, dict) else {}
    if fields.get("kind") not in {"tasks", "placement"}:
        kind = describe_value(fields.get("kind"))
        return Problem(
            0, 0, "kind", f"found {kind}; allowed is what `tasks -o json` or `place -o json` prints"
        )
    version = ANSWER_DOCUMENT.read_version(fields.get("version"))
    if isinstance(version, VersionRefusal):
        written = describe_value(fields.get("version"))
        return Problem(
            0, 0, "version", f"found {written}; this version reads version {ANSWER_DOCUMENT.version}"
        )
    if fields.get("outcome") != "accepted":
        return Problem(0, 0, "outcome", "found an answer that was refused; it holds nothing to continue from")
    return None


def _previous_answer(document: dict[str, Any], layout: Layout) -> PreviousAnswer:
    processors = document.get("processors", {})
    processor_of = {task: name for name, entry in processors.items() for task in entry["tasks"]}
    return PreviousAnswer(
        layout,
        processor_of,
        {name: entry.get("location") for name, entry in processors.items()},
        {
            task: tuple(map(str, entry["left"]))
            for task, entry in document.get("tasks", {}).items()
            if entry.get("left")
        },
    )

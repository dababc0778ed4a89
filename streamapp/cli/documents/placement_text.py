"""A placement as a person reads it: who runs what, what moved and why, and that no better one exists."""

from collections import Counter
from collections.abc import Mapping

from streamapp.cli.documents.placement_document import placement_moves
from streamapp.cli.documents.previous_answer import PreviousAnswer
from streamapp.cli.documents.tasks_text import refusal_text, text_table
from streamapp.placement.movement import Movement
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal


def placement_text(
    name: str, found: TaskPlacement | Refusal, locations: Mapping[str, str | None], previous: PreviousAnswer
) -> str:
    """The answer of `streamapp place`."""
    if isinstance(found, Refusal):
        return refusal_text(name, found)
    tasks, processors = len(found.processor_of), len(found.loads)
    lines = [f"{name}: {tasks} tasks on {processors} processors"]
    if previous.processor_of:
        lines += _changed(found, placement_moves(found, locations, previous))
    rows = [("PROCESSOR", "LOCATION", "LOAD", "TASKS")]
    for processor, held in found.tasks_of().items():
        place = locations.get(processor) or "unknown"
        rows.append((processor, place, str(len(held)), _named(held, found)))
    lines += ["", *text_table(rows)]
    if previous.processor_of:
        whys = Counter(found.why(task).value for task in found.processor_of)
        lines += ["", *text_table([("TASKS", "WHY"), *((str(n), why) for why, n in sorted(whys.items()))])]
        lines += ["", "  * is not on the processor that had it"] * bool(found.processor_moves)
    return "\n".join(lines) + "\n"


def _changed(found: TaskPlacement, change: Movement) -> list[str]:
    had = found.on_processor + found.processor_moves
    located = found.on_location + found.location_moves
    least = located - found.most_on_location
    same = ", ".join(change.untouched) or "none"
    return [
        f"  kept on their location   {found.on_location} of {located}",
        f"  kept on their processor  {found.on_processor} of {had}",
        f"  moved to another place   {found.location_moves}; the least that balanced loads allow is {least}",
        f"  processors left alone    {same}",
    ]


def _named(held: tuple[str, ...], found: TaskPlacement) -> str:
    was = found.before.previous
    marked = [task + "*" * (task in was and was[task] != found.processor_of[task]) for task in held]
    return ", ".join(marked) if len(marked) <= 8 else f"{', '.join(marked[:6])}, … ({len(marked)})"

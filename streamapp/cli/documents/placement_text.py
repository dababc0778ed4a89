"""A placement as text: the tasks of each processor, the moves with reasons, and the proven optimum."""

from collections import Counter
from collections.abc import Mapping

from streamapp.cli.documents.placement_document import placement_moves
from streamapp.cli.documents.previous_answer import PreviousAnswer
from streamapp.cli.documents.tasks_text import refusal_text, text_table
from streamapp.placement.movement import Movement
from streamapp.placement.task_placement import TaskPlacement
from streamapp.tasks.refusal import Refusal


def placement_text(
    name: str,
    placement: TaskPlacement | Refusal,
    locations: Mapping[str, str | None],
    previous: PreviousAnswer,
) -> str:
    """The answer of `streamapp place`."""
    if isinstance(placement, Refusal):
        return refusal_text(name, placement)
    tasks, processors = len(placement.processor_of), len(placement.loads)
    lines = [f"{name}: {tasks} tasks on {processors} processors"]
    if previous.processor_of:
        lines += _change_lines(placement, placement_moves(placement, locations, previous))
    rows = [("PROCESSOR", "LOCATION", "LOAD", "TASKS")]
    for processor, processor_tasks in placement.tasks_of().items():
        location = locations.get(processor) or "unknown"
        rows.append((processor, location, str(len(processor_tasks)), _task_list(processor_tasks, placement)))
    lines += ["", *text_table(rows)]
    if previous.processor_of:
        reason_counts = Counter(placement.why(task).value for task in placement.processor_of)
        lines += [
            "",
            *text_table(
                [("TASKS", "WHY"), *((str(count), reason) for reason, count in sorted(reason_counts.items()))]
            ),
        ]
        lines += ["", "  * is not on the processor that had it"] * bool(placement.processor_moves)
    return "\n".join(lines) + "\n"


def _change_lines(placement: TaskPlacement, moves: Movement) -> list[str]:
    with_owner = placement.on_processor + placement.processor_moves
    with_location = placement.on_location + placement.location_moves
    least_moves = with_location - placement.most_on_location
    untouched = ", ".join(moves.untouched) or "none"
    return [
        f"  kept on their location   {placement.on_location} of {with_location}",
        f"  kept on their processor  {placement.on_processor} of {with_owner}",
        f"  moved to another place   {placement.location_moves}; "
        f"the least that balanced loads allow is {least_moves}",
        f"  processors left alone    {untouched}",
    ]


def _task_list(processor_tasks: tuple[str, ...], placement: TaskPlacement) -> str:
    previous_owners = placement.prior_locality.previous
    task_names = [
        task + "*" * (task in previous_owners and previous_owners[task] != placement.processor_of[task])
        for task in processor_tasks
    ]
    return (
        ", ".join(task_names)
        if len(task_names) <= 8
        else f"{', '.join(task_names[:6])}, … ({len(task_names)})"
    )

"""Tasks as text: the partitions of each task, and the effect of a growth."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp.spec.problem import with_path
from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

MOST_LINES = 40


def tasks_text(name: str, tasks: Assignment | Refusal, previous: Layout | None) -> str:
    """The answer of `streamapp tasks`."""
    if isinstance(tasks, Refusal):
        return refusal_text(name, tasks) + "  The app continues with the tasks it has.\n" * (
            previous is not None
        )
    owned_count = sum(len(partitions) for partitions in tasks.tasks.values())
    lines = [
        f"{name}: {len(tasks.tasks)} tasks over {owned_count} partitions, formed by {tasks.layout.grouper}"
    ]
    lines += [f"  {split.stream} grew {_growth_text(split)}" for split in tasks.grown]
    changelog = tasks.changelog
    rows = [("TASK", "CHANGELOG", "PARTITIONS")]
    for task, partitions in sorted(tasks.tasks.items(), key=lambda entry: changelog[entry[0]]):
        rows.append((task, f"#{changelog[task]}", partition_ranges(partitions, previous_counts(previous))))
    lines += ["", *text_table(rows)]
    if tasks.broadcast:
        lines.append(f"\nevery task also reads {partition_ranges(tasks.broadcast, {})}")
    return "\n".join(lines) + "\n"


_KEY_MOVEMENT_TEXT = {
    KeyMovement.EXACT: "each new partition went to the task that held its keys",
    KeyMovement.MAPPED: "each new partition went where the expansion algorithm says its keys were",
    KeyMovement.MIXED: "partitions exchanged keys, whose order across the growth is not kept",
}


def _growth_text(split: Split) -> str:
    return f"from {split.before} to {split.after} partitions: {_KEY_MOVEMENT_TEXT[split.parting]}"


def refusal_text(name: str, refusal: Refusal) -> str:
    """A refusal with its reason and hint."""
    lines = [f"{name}: refused, {refusal.reason.value}"]
    lines += ["  " + with_path(refusal.path, refusal.message)]
    lines += [f"  To fix it: {refusal.hint}"] * bool(refusal.hint)
    return "\n".join(lines) + "\n"


def previous_counts(previous: Layout | None) -> Mapping[str, int]:
    """The previous partition count of each stream; partitions above it are new and marked."""
    return {name: stream.last for name, stream in previous.streams.items()} if previous else {}


def partition_ranges(partitions: Iterable[Partition], previous_counts: Mapping[str, int]) -> str:
    """Partitions in a short form, `views#0,8*`: by stream, new ones with a star."""
    indexes_of: dict[str, list[str]] = {}
    for stream, index in sorted(partitions):
        new_mark = "*" * (index >= previous_counts.get(stream, index + 1))
        indexes_of.setdefault(stream, []).append(f"{index}{new_mark}")
    return "  ".join(f"{stream}#{','.join(indexes)}" for stream, indexes in indexes_of.items())


def text_table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows under a heading, in columns; of a long table only the first and the last rows."""
    left_out = len(rows) - MOST_LINES
    shown = rows if left_out <= 1 else [*rows[: MOST_LINES - 5], *rows[-5:]]
    widths = [max(len(row[column]) for row in shown) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in shown
    ]
    if left_out > 1:
        lines.insert(MOST_LINES - 5, f"  … {left_out} more …")
    return lines

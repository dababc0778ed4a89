"""Tasks as a person reads them: who owns what, and what became of a growth."""

from collections.abc import Iterable, Mapping, Sequence

from streamapp.tasks.groupers.grouping_request import Assignment
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import KeyMovement, Split
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal

MOST_LINES = 40


def tasks_text(name: str, found: Assignment | Refusal, previous: Layout | None) -> str:
    """The answer of `streamapp tasks`."""
    if isinstance(found, Refusal):
        return refusal_text(name, found) + "  The app goes on with the tasks it has.\n" * (
            previous is not None
        )
    owned = sum(len(partitions) for partitions in found.tasks.values())
    lines = [f"{name}: {len(found.tasks)} tasks over {owned} partitions, formed by {found.layout.grouper}"]
    lines += [f"  {split.stream} grew {_grown(split)}" for split in found.grown]
    changelog = found.changelog
    rows = [("TASK", "CHANGELOG", "PARTITIONS")]
    for task, partitions in sorted(found.tasks.items(), key=lambda entry: changelog[entry[0]]):
        rows.append((task, f"#{changelog[task]}", partition_ranges(partitions, previous_counts(previous))))
    lines += ["", *text_table(rows)]
    if found.broadcast:
        lines.append(f"\nevery task also reads {partition_ranges(found.broadcast, {})}")
    return "\n".join(lines) + "\n"


_SAID = {
    KeyMovement.EXACT: "each new partition went to the task that held its keys",
    KeyMovement.MAPPED: "each new partition went where the expansion algorithm says its keys were",
    KeyMovement.MIXED: "keys stay with their tasks, but partitions exchanged keys: their order is not kept",
}


def _grown(split: Split) -> str:
    return f"from {split.before} to {split.after} partitions: {_SAID[split.parting]}"


def refusal_text(name: str, refusal: Refusal) -> str:
    """Why there is no answer, and what would mend it."""
    lines = [f"{name}: refused, {refusal.reason.value}"]
    lines += [f"  {refusal.path}: {refusal.message}" if refusal.path else f"  {refusal.message}"]
    lines += [f"  To mend it: {refusal.hint}"] * bool(refusal.hint)
    return "\n".join(lines) + "\n"


def previous_counts(previous: Layout | None) -> Mapping[str, int]:
    """How many partitions each stream had; what lies above is new and marked."""
    return {name: stream.last for name, stream in previous.streams.items()} if previous else {}


def partition_ranges(partitions: Iterable[Partition], before: Mapping[str, int]) -> str:
    """Partitions in few words, `views#0,8*`: by stream, new ones with a star."""
    found: dict[str, list[str]] = {}
    for stream, index in sorted(partitions):
        star = "*" * (index >= before.get(stream, index + 1))
        found.setdefault(stream, []).append(f"{index}{star}")
    return "  ".join(f"{stream}#{','.join(indexes)}" for stream, indexes in found.items())


def text_table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows under a heading, in columns; of very many only the first and the last."""
    left_out = len(rows) - MOST_LINES
    shown = rows if left_out <= 1 else [*rows[: MOST_LINES - 5], *rows[-5:]]
    widths = [max(len(row[column]) for row in shown) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in shown
    ]
    if left_out > 1:
        lines.insert(MOST_LINES - 5, f"  … {left_out} more …")
    return lines

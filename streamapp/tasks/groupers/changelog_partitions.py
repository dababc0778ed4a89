"""Which partition of the changelogs belongs to which task: for ever, so numbers are never reused."""

from collections.abc import Iterable, Mapping


def changelog_numbers(known: Mapping[str, int], tasks: Iterable[str]) -> dict[str, int]:
    """All numbers given so far and, for new tasks in the order of their names, the next free ones."""
    free = changelog_partition_count(known)
    new = sorted({task for task in tasks if task not in known})
    return {**known, **{task: number for number, task in enumerate(new, start=free)}}


def changelog_partition_count(numbers: Mapping[str, int]) -> int:
    """How many partitions a changelog needs."""
    return max(numbers.values(), default=-1) + 1

"""The changelog partition of each task. It is permanent, so numbers are never reused."""

from collections.abc import Iterable, Mapping


def changelog_numbers(numbers: Mapping[str, int], tasks: Iterable[str]) -> dict[str, int]:
    """The existing numbers and, for new tasks in order of names, the next free numbers."""
    next_number = changelog_partition_count(numbers)
    new_tasks = sorted({task for task in tasks if task not in numbers})
    return {**numbers, **{task: number for number, task in enumerate(new_tasks, start=next_number)}}


def changelog_partition_count(numbers: Mapping[str, int]) -> int:
    """The partition count that a changelog needs."""
    return max(numbers.values(), default=-1) + 1

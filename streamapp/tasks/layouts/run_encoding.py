"""Long lists of numbers and names, written as the few runs that they mostly are.

Numbers: `[start, count, step]` with a step of 0 or 1. Names: `[before, start, count, after]` stands for names
that differ in one number, `Partition 0` to `Partition 99999`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

# A number without leading zeros, so that it is written back as it was read, and the last one in the name.
_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,17})(\D*)", re.DOTALL | re.ASCII)

NumberRun = tuple[int, int, int]
NameRun = tuple[str, int, int, str]


def number_runs(numbers: Iterable[int]) -> list[NumberRun]:
    """The numbers as runs."""
    runs: list[NumberRun] = []
    start, count, step = 0, 0, 0
    for number in numbers:
        if count == 1 and number - start in (0, 1):
            count, step = 2, number - start
        elif count > 1 and number == start + count * step:
            count += 1
        else:
            if count:
                runs.append((start, count, step))
            start, count, step = number, 1, 0
    return [*runs, (start, count, step)] if count else runs


def numbers_of(runs: Iterable[NumberRun]) -> list[int]:
    """The numbers of which these are the runs."""
    return list(chain.from_iterable(_numbers(run) for run in runs))


def _numbers(run: NumberRun) -> Sequence[int]:
    start, count, step = run
    return range(start, start + count) if step else [start] * count


def name_runs(names: Iterable[str]) -> list[NameRun]:
    """The names as runs, in an order that makes few of them; a count of 0 is a name without a number."""
    runs: list[NameRun] = []
    for before, number, after in sorted({_parted(name) for name in names}, key=_kin):
        last = runs[-1] if runs else None
        if number < 0:
            runs.append((before, 0, 0, after))
        elif last and last[2] and (last[0], last[1] + last[2], last[3]) == (before, number, after):
            runs[-1] = (before, last[1], last[2] + 1, after)
        else:
            runs.append((before, number, 1, after))
    return runs


def names_of(runs: Iterable[NameRun]) -> list[str]:
    """The names of which these are the runs."""
    return list(chain.from_iterable(_names(run) for run in runs))


def _names(run: NameRun) -> Iterator[str]:
    before, start, count, after = run
    if not count:
        yield f"{before}{after}"
    for number in range(start, start + count):
        yield f"{before}{number}{after}"


def _parted(name: str) -> tuple[str, int, str]:
    match = _NUMBERED.fullmatch(name)
    return (match[1], int(match[2]), match[3]) if match else (name, -1, "")


def _kin(parts: tuple[str, int, str]) -> tuple[str, str, int]:
    before, number, after = parts
    return before, after, number

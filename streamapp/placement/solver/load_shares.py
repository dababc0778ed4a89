"""The number of tasks that each processor carries; which tasks is decided later.

Tasks are dealt one at a time to the processor with the least load for its capacity. So loads differ by one
at most where all capacities are equal, follow the capacities where they differ, and no processor is idle
while there are at least as many tasks as processors. The last round of dealing can be short: then some of the
tied processors carry one task more than the others, and which of them do is open.
"""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapify, heappop, heappush

from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal


@dataclass(frozen=True, slots=True)
class LoadShares:
    """Every processor carries its base; `extras` of the eligible ones carry one task more."""

    base: Mapping[str, int]
    eligible: Collection[str]
    extras: int


def share_out_tasks(
    tasks: int,
    processors: Sequence[str],
    capacity: Mapping[str, int] | None = None,
    limit: Mapping[str, int] | None = None,
) -> LoadShares | Refusal:
    """The shares of a number of tasks. Capacities are relative with the default 1; limits are absolute."""
    if not processors:
        return Refusal(
            Reason.NO_PROCESSORS,
            "processors",
            f"there is no processor to run {tasks} tasks",
            "start at least one processor",
        )
    if not capacity and not limit:
        base, extras = divmod(tasks, len(processors))
        return LoadShares(dict.fromkeys(processors, base), frozenset(processors), extras)
    weight = {name: max(0, (capacity or {}).get(name, 1)) for name in processors}
    most_tasks = {name: max(0, (limit or {}).get(name, tasks)) if weight[name] else 0 for name in processors}
    room = sum(most_tasks.values())
    if room < tasks:
        return Refusal(
            Reason.INSUFFICIENT_CAPACITY,
            "processors",
            f"all {len(processors)} may carry {room} tasks together, but there are {tasks}",
            f"make room for {tasks - room} more: raise limits or capacities, or add processors",
        )
    return _by_capacity(tasks, weight, most_tasks)


def _by_capacity(tasks: int, weight: Mapping[str, int], most_tasks: Mapping[str, int]) -> LoadShares:
    """Deal up to just below the last level at once, and the remaining tasks in rounds."""
    total = sum(weight.values()) or 1

    def total_load(level: int) -> int:
        return sum(_load(level, total, weight[name], most_tasks[name]) for name in weight)

    level = bisect_right(range(tasks * total + 1), tasks, key=total_load) - 1
    base = {name: _load(level, total, weight[name], most_tasks[name]) for name in weight}
    undealt_tasks = tasks - sum(base.values())
    queue = [(Fraction(base[name], weight[name]), name) for name in weight if base[name] < most_tasks[name]]
    heapify(queue)
    while undealt_tasks:
        lowest_load, tied = queue[0][0], []
        while queue and queue[0][0] == lowest_load:
            tied.append(heappop(queue)[1])
        if len(tied) > undealt_tasks:
            return LoadShares(base, frozenset(tied), undealt_tasks)
        undealt_tasks -= len(tied)
        for name in tied:
            base[name] += 1
            if base[name] < most_tasks[name]:
                heappush(queue, (Fraction(base[name], weight[name]), name))
    return LoadShares(base, frozenset(), 0)


def _load(level: int, total: int, weight: int, most_tasks: int) -> int:
    """A processor's load when every processor below level / total has received its next task."""
    return min(most_tasks, -(-weight * level // total))

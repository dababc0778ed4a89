"""How many tasks each processor carries, before anyone asks which.

Tasks are dealt one at a time to the processor that is the least laden for its capacity. So loads differ
by one at most where all capacities are equal, follow the capacities where they are not, and nobody is
idle while there are at least as many tasks as processors. The last round of dealing can be short: then
some of the processors that tie for it carry one task more than the others, and which ones is free.
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
    """The shares of so many tasks. Capacities are relative, 1 where not given; limits are absolute."""
    if not processors:
        return Refusal(
            Reason.NO_PROCESSORS,
            f"there is no processor to run {tasks} tasks",
            "start at least one processor",
        )
    if not capacity and not limit:
        each, extras = divmod(tasks, len(processors))
        return LoadShares(dict.fromkeys(processors, each), frozenset(processors), extras)
    weight = {name: max(0, (capacity or {}).get(name, 1)) for name in processors}
    most = {name: max(0, (limit or {}).get(name, tasks)) if weight[name] else 0 for name in processors}
    room = sum(most.values())
    if room < tasks:
        return Refusal(
            Reason.INSUFFICIENT_CAPACITY,
            "processors",
            f"all {len(processors)} may carry {room} tasks together, but there are {tasks}",
            f"make room for {tasks - room} more: raise limits or capacities, or add processors",
        )
    return _by_capacity(tasks, weight, most)


def _by_capacity(tasks: int, weight: Mapping[str, int], most: Mapping[str, int]) -> LoadShares:
    """Deal up to just below the last level in one go, and what is left, a task each or less, in rounds."""
    total = sum(weight.values()) or 1

    def laden(level: int) -> int:
        return sum(_load(level, total, weight[name], most[name]) for name in weight)

    level = bisect_right(range(tasks * total + 1), tasks, key=laden) - 1
    base = {name: _load(level, total, weight[name], most[name]) for name in weight}
    left = tasks - sum(base.values())
    queue = [(Fraction(base[name], weight[name]), name) for name in weight if base[name] < most[name]]
    heapify(queue)
    while left:
        now, tied = queue[0][0], []
        while queue and queue[0][0] == now:
            tied.append(heappop(queue)[1])
        if len(tied) > left:
            return LoadShares(base, frozenset(tied), left)
        left -= len(tied)
        for name in tied:
            base[name] += 1
            if base[name] < most[name]:
                heappush(queue, (Fraction(base[name], weight[name]), name))
    return LoadShares(base, frozenset(), 0)


def _load(level: int, total: int, weight: int, most: int) -> int:
    """What a processor carries when all that were less laden than level / total got their next task."""
    return min(most, -(-weight * level // total))

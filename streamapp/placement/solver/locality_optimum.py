"""The greatest number of tasks that a balanced assignment can leave on their location, in closed form.

A location fills the bases of its processors with its own tasks first. Its remaining tasks ask for extra
places. An extra place serves one task of one location, so either all requests are served or all extra places
are used. No assignment does better; `extra_tasks` reaches this optimum, and tests compare the two.
"""

from collections.abc import Iterable

from streamapp.placement.solver.load_shares import LoadShares
from streamapp.placement.solver.task_classes import LocationGroup


def most_on_location(groups: Iterable[LocationGroup], shares: LoadShares) -> int:
    """The proven optimum; a group without a location is no task's home and adds nothing."""
    on_bases = extras_asked = 0
    for group in groups:
        base = sum(map(shares.base.__getitem__, group.processors))
        eligible_processors = sum(name in shares.eligible for name in group.processors)
        on_bases += min(group.tasks, base)
        extras_asked += min(eligible_processors, max(0, group.tasks - base))
    return on_bases + min(shares.extras, extras_asked)

"""The most tasks that any balanced assignment can leave on their location, in closed form.

A location fills the bases of its processors with its own tasks first. What is left over there asks for
extras, each of which serves one task and one location, so that all of them are served or all are spent.
No assignment does better, whatever it does with processors; `extras` reaches it, and tests compare.
"""

from collections.abc import Iterable

from streamapp.placement.solver.load_shares import LoadShares
from streamapp.placement.solver.task_classes import LocationGroup


def most_on_location(sites: Iterable[LocationGroup], shares: LoadShares) -> int:
    """The proven optimum; a site without a location is no task's home and adds nothing."""
    on_bases = asked = 0
    for site in sites:
        base = sum(map(shares.base.__getitem__, site.processors))
        takers = sum(name in shares.eligible for name in site.processors)
        on_bases += min(site.tasks, base)
        asked += min(takers, max(0, site.tasks - base))
    return on_bases + min(shares.extras, asked)
